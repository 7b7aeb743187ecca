// A client as a customer would write it over what hey-api generates: the key is given once, as `auth`. Compiled strictly, then
// run against a live service with BASE_URL and API_KEY as its arguments. It ends with a line of JSON that says what it saw.
import {
  createMonitor, createWorkflow, getCredits, getLiveStatus, getMonitor, listDownloadLinks, listMonitorEvents, runWorkflow,
  updateMonitor,
} from './hey/index';
import type {CreateMonitor, Event, LiveStatus} from './hey/index';
import {client} from './hey/client.gen';

declare const process: {argv: string[]};
const [, , baseUrl, apiKey] = process.argv;
client.setConfig({baseUrl, auth: apiKey, throwOnError: true});

const pause = () => new Promise(later => setTimeout(later, 200));

const smallest: CreateMonitor = {
  name: 'Pages', key_columns: ['sku'], rows: [{sku: 'a'}, {sku: 'b'}, {sku: 'c'}], struct: {price: 'css:.price'},
};

async function main(): Promise<void> {
  const made = await createMonitor({body: {...smallest, frequency: '30d', metadata: {team: 'sales'}}, throwOnError: true});
  const path = {monitor_id: made.data.id};
  await updateMonitor({path, body: {name: 'Pages, renamed'}, throwOnError: true});
  const detail = await getMonitor({path, throwOnError: true});

  // A page of two events once there is a third, and the page after it.
  const eventsAfter = async (cursor?: string) =>
      (await listMonitorEvents({path, query: {limit: 2, cursor}, throwOnError: true})).data;
  let page = await eventsAfter();
  while (!page.next_cursor) {
    await pause();
    page = await eventsAfter();
  }
  const events: Event[] = [...page.events, ...(await eventsAfter(page.next_cursor)).events];

  const workflow = await createWorkflow({
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
    throwOnError: true,
  });
  const run = await runWorkflow({
    query: {workflow_id: workflow.data.id}, body: {webhook_payload: [{domain: 'a.example'}, {domain: 'a.example'}]},
    throwOnError: true,
  });
  const run_id = run.data.job_id;
  let status: LiveStatus['overall_status'] = 'queued';
  while (status === 'queued' || status === 'running') {
    await pause();
    status = (await getLiveStatus({path: {run_id}, throwOnError: true})).data.overall_status;
  }
  const links = await listDownloadLinks({path: {run_id}, throwOnError: true});

  const credits = await getCredits({throwOnError: true});
  const missing = await getMonitor({path: {monitor_id: '00000000-0000-0000-0000-000000000000'}, throwOnError: false});
  if (!missing.error) throw new Error('there is such a monitor');

  // @ts-expect-error: a monitor without watched fields does not compile.
  const wrong: CreateMonitor = {name: 'Pages', key_columns: ['sku']};

  console.log(JSON.stringify({
    id: made.data.id, name: detail.data.name, rows: detail.data.rows.map(row => row.subject),
    team: detail.data.metadata?.team, events: events.map(event => event.event_type), run: status,
    files: links.data.map(link => link.row_count), credits: credits.data.credits, status: missing.response?.status,
    error: missing.error, wrong: wrong.name,
  }));
}

main();
