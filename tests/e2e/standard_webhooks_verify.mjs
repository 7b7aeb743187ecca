// Verifies signatures with the published libraries "standardwebhooks" and "svix": one JSON {body (base64), headers, secret,
// raw} a line in, "valid" or the first library's complaint a line out; both have to agree. Its argument is the folder that
// holds node_modules.
import {createRequire} from 'node:module';
import {createInterface} from 'node:readline';

const load = createRequire(`${process.argv[2]}/`);
const libraries = [load('standardwebhooks').Webhook, load('svix').Webhook];
for await (const line of createInterface({input: process.stdin})) {
  const {body, headers, secret, raw} = JSON.parse(line);
  const answers = libraries.map((Webhook) => {
    try {
      new Webhook(secret, raw ? {format: 'raw'} : undefined).verify(Buffer.from(body, 'base64').toString(), headers);
      return 'valid';
    } catch (error) {
      return String(error.message).split('\n')[0];
    }
  });
  console.log(answers[0] === answers[1] ? answers[0] : `they differ: ${answers.join(' / ')}`);
}
