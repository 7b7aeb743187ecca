// Verifies signatures with the published library "stripe": one JSON {body (base64), header, secret} a line in,
// "valid" or the library's complaint a line out. Its argument is the folder that holds node_modules.
import {createRequire} from 'node:module';
import {createInterface} from 'node:readline';

const Stripe = createRequire(`${process.argv[2]}/`)('stripe');
const stripe = new (Stripe.default ?? Stripe)('sk_test_none');
for await (const line of createInterface({input: process.stdin})) {
  const {body, header, secret, tolerance} = JSON.parse(line);
  try {
    stripe.webhooks.constructEvent(Buffer.from(body, 'base64'), header, secret, tolerance ?? 300);
    console.log('valid');
  } catch (error) {
    console.log(String(error.message).split('\n')[0]);
  }
}
