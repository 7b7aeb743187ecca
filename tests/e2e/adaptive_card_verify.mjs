// Parses the JSON of an Adaptive Card on standard input with the published library "adaptivecards": "valid", or its
// complaints. Its argument is the folder that holds node_modules.
import {createRequire} from 'node:module';
import {readFileSync} from 'node:fs';

const cards = createRequire(`${process.argv[2]}/`)('adaptivecards');
const context = new cards.SerializationContext(cards.Versions.v1_4);
const card = new cards.AdaptiveCard();
card.parse(JSON.parse(readFileSync(0, 'utf8')), context);
const complaints = [];
for (let i = 0; i < context.eventCount; ++i) complaints.push(context.getEventAt(i).message);
for (const found of card.validateProperties().validationEvents) complaints.push(found.message);
console.log(complaints.length === 0 && card.getItemCount() > 0 ? 'valid' : complaints.join('; ') || 'nothing in it');
