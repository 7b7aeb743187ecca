// A client as a customer would write it over generated types: compiled strictly, then run against a live service with
// BASE_URL and API_KEY as its arguments. It ends with a line of JSON that says what it saw.
import createClient from 'openapi-fetch';
import type {components, paths} from './schema.ts';

declare const process: {argv: string[]};
const [, , baseUrl, apiKey] = process.argv;

type Monitor = components['schemas']['CreateMonitor'];
type Page = components['schemas']['MonitorRowPage'];

const pause = () => new Promise(later => setTimeout(later, 200));

const client = createClient<paths>({baseUrl, headers: {'x-api-key': apiKey ?? ''}});

// The smallest monitor: what a client may leave out it need not write.
const smallest: Monitor = {
  name: 'Pages', key_columns: ['sku'], rows: [{sku: 'a'}, {sku: 'b'}, {sku: 'c'}], struct: {price: 'css:.price'},
};
const made = await client.POST('/monitors', {body: {...smallest, frequency: '30d', metadata: {team: 'sales'}}});
if (made.error) throw new Error(JSON.stringify(made.error));
const id: string = made.data.id;

// Every page of its rows, two rows a page.
async function pageAfter(cursor?: string): Promise<Page> {
  const {data, error} = await client.GET('/monitors/{monitor_id}/rows', {
    params: {path: {monitor_id: id}, query: {limit: 2, cursor}},
  });
  if (error) throw new Error(JSON.stringify(error));
  return data;
}
let page: Page = await pageAfter();
const rows = [...page.rows];
while (page.next_cursor) {
  page = await pageAfter(page.next_cursor);
  rows.push(...page.rows);
}

const changed = await client.POST('/monitors/{monitor_id}/update', {
  params: {path: {monitor_id: id}}, body: {name: 'Pages, renamed'},
});
if (changed.error) throw new Error(JSON.stringify(changed.error));
const detail = await client.GET('/monitors/{monitor_id}', {params: {path: {monitor_id: id}}});
if (detail.error) throw new Error(JSON.stringify(detail.error));

// A page of two events once there is a third, and the page after it.
async function eventsAfter(cursor?: string) {
  const {data, error} = await client.GET('/monitors/{monitor_id}/events', {
    params: {path: {monitor_id: id}, query: {limit: 2, cursor}},
  });
  if (error) throw new Error(JSON.stringify(error));
  return data;
}
let found = await eventsAfter();
while (!found.next_cursor) {
  await pause();
  found = await eventsAfter();
}
const events = [...found.events, ...(await eventsAfter(found.next_cursor)).events];

const workflow = await client.POST('/workflows/create_workflow', {
  body: {
    workflow_name: 'Each once',
    workflow_definition: {
      blocks: [
        {sequence_number: 1, block_id: 'in', block_name: 'webhook', specs: {dataframe_type: 'COMPANY'}},
        {sequence_number: 2, block_id: 'once', block_name: 'dedupe', specs: {columns: ['domain']}},
      ],
      edges: [{from_block_id: 'in', to_block_id: 'once'}],
    },
  },
});
if (workflow.error) throw new Error(JSON.stringify(workflow.error));
const run = await client.POST('/workflows/run', {
  params: {query: {workflow_id: workflow.data.id}},
  body: {webhook_payload: [{domain: 'a.example'}, {domain: 'a.example'}]},
});
if (run.error) throw new Error(JSON.stringify(run.error));
const params = {path: {run_id: run.data.job_id}};
let status: components['schemas']['LiveStatus']['overall_status'] = 'queued';
while (status === 'queued' || status === 'running') {
  await pause();
  const live = await client.GET('/workflows/runs/{run_id}/live_status', {params});
  if (live.error) throw new Error(JSON.stringify(live.error));
  status = live.data.overall_status;
}
const links = await client.GET('/workflows/runs/{run_id}/results/download-links', {params});
if (links.error) throw new Error(JSON.stringify(links.error));

const credits = await client.GET('/credits');
if (credits.error) throw new Error(JSON.stringify(credits.error));

// What is refused is a value with a type, too.
const missing = await client.GET('/monitors/{monitor_id}', {
  params: {path: {monitor_id: '00000000-0000-0000-0000-000000000000'}},
});
if (!missing.error) throw new Error('there is such a monitor');

// @ts-expect-error: a monitor without watched fields does not compile.
const wrong: Monitor = {name: 'Pages', key_columns: ['sku']};

console.log(JSON.stringify({
  id, rows: rows.map(row => row.subject), name: detail.data.name, team: detail.data.metadata?.team,
  events: events.map(event => event.event_type), run: status, files: links.data.map(link => link.row_count),
  credits: credits.data.credits, status: missing.response.status, error: missing.error, wrong: wrong.name,
}));
