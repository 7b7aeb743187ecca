// What the library "mingo" says of simple filters: {documents, cases: [{filter}]} a line in; a line out, the ids that each
// filter matches. Its argument is the folder that holds node_modules.
import {createRequire} from 'node:module';
import {createInterface} from 'node:readline';

const {Query} = createRequire(`${process.argv[2]}/`)('mingo');
for await (const line of createInterface({input: process.stdin})) {
  const {documents, cases} = JSON.parse(line);
  console.log(JSON.stringify(cases.map(({filter}) => {
    const query = new Query(filter);
    return documents.filter((document) => query.test(document)).map((document) => document.id);
  })));
}
