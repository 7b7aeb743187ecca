// A client as a customer would write it over what orval generates for fetch: the key is a header of every call. Compiled
// strictly, then run against a live service with API_KEY as its argument; orval was told the address. It ends with a line of
// JSON that says what it saw.
import {
  createMonitor, createWorkflow, getCredits, getLiveStatus, getMonitor, listDownloadLinks, listMonitorEvents, runWorkflow,
  updateMonitor,
} from './orval/client';
import type {CreateMonitor, Event, LiveStatus} from './orval/client';

declare const process: {argv: string[]};
const [, , apiKey] = process.argv;
const options: RequestInit = {headers: {'x-api-key': apiKey ?? ''}};

// What an answer has that is none of the refusals.
function good<A extends {status: number; data: unknown}>(answer: A): Extract<A, {status: 200}>['data'] {
  if (answer.status !== 200) throw new Error(JSON.stringify(answer.data));
  return answer.data as Extract<A, {status: 200}>['data'];
}

const pause = () => new Promise(later => setTimeout(later, 200));

const smallest: CreateMonitor = {
  name: 'Pages', key_columns: ['sku'], rows: [{sku: 'a'}, {sku: 'b'}, {sku: 'c'}], struct: {price: 'css:.price'},
};

async function main(): Promise<void> {
  const made = good(await createMonitor({...smallest, frequency: '30d', metadata: {team: 'sales'}}, options));
  good(await updateMonitor(made.id, {name: 'Pages, renamed'}, options));
  const detail = good(await getMonitor(made.id, options));

  // A page of two events once there is a third, and the page after it.
  const eventsAfter = async (cursor?: string) => good(await listMonitorEvents(made.id, {limit: 2, cursor}, options));
  let page = await eventsAfter();
  while (!page.next_cursor) {
    await pause();
    page = await eventsAfter();
  }
  const events: Event[] = [...page.events, ...(await eventsAfter(page.next_cursor)).events];

  const workflow = good(await createWorkflow({
    workflow_name: 'Each once',
    workflow_definition: {
      blocks: [
        {sequence_number: 1, block_id: 'in', block_name: 'webhook', specs: {dataframe_type: 'COMPANY'}},
        {sequence_number: 2, block_id: 'once', block_name: 'dedupe', specs: {columns: ['domain']}},
      ],
      edges: [{from_block_id: 'in', to_block_id: 'once'}],
    },
  }, options));
  const run = good(await runWorkflow(
      {workflow_id: workflow.id}, {webhook_payload: [{domain: 'a.example'}, {domain: 'a.example'}]}, options));
  let status: LiveStatus['overall_status'] = 'queued';
  while (status === 'queued' || status === 'running') {
    await pause();
    status = good(await getLiveStatus(run.job_id, options)).overall_status;
  }
  const links = good(await listDownloadLinks(run.job_id, undefined, options));

  const credits = good(await getCredits(options));
  const missing = await getMonitor('00000000-0000-0000-0000-000000000000', options);
  if (missing.status === 200) throw new Error('there is such a monitor');

  // @ts-expect-error: a monitor without watched fields does not compile.
  const wrong: CreateMonitor = {name: 'Pages', key_columns: ['sku']};

  console.log(JSON.stringify({
    id: made.id, name: detail.name, rows: detail.rows.map(row => row.subject), team: detail.metadata?.team,
    events: events.map(event => event.event_type), run: status, files: links.map(link => link.row_count),
    credits: credits.credits, status: missing.status, error: missing.data, wrong: wrong.name,
  }));
}

main();
