// An OAuth client with the published library "openid-client": it reads our metadata, authenticates with private_key_jwt
// at every route of the protocol, and uses its token.
// Arguments: the folder that holds node_modules, the API's address, the client's id, its private key as PEM, and how that
// key signs, as WebCrypto has it. Prints what it saw as JSON.
import {createPrivateKey, webcrypto} from 'node:crypto';
import {readFileSync} from 'node:fs';
import {pathToFileURL} from 'node:url';

const [tools, api, clientId, keyFile, algorithm] = process.argv.slice(2);
const client = await import(pathToFileURL(`${tools}/node_modules/openid-client/build/index.js`));

const der = createPrivateKey(readFileSync(keyFile)).export({type: 'pkcs8', format: 'der'});
const key = await webcrypto.subtle.importKey('pkcs8', der, JSON.parse(algorithm), false, ['sign']);
// Insecure only as the test's API speaks plain HTTP.
const config = await client.discovery(new URL(api), clientId, undefined, client.PrivateKeyJwt(key),
  {algorithm: 'oauth2', execute: [client.allowInsecureRequests]});
const tokens = await client.clientCredentialsGrant(config, {scope: 'full_access'});
const credits = async () => client.fetchProtectedResource(config, tokens.access_token, new URL(`${api}/credits`), 'GET');
const used = await (await credits()).json();
const active = (await client.tokenIntrospection(config, tokens.access_token)).active;
await client.tokenRevocation(config, tokens.access_token);
// The library reads WWW-Authenticate of a refusal.
const refused = await credits().then(answer => answer.status, error => error.cause?.[0]?.parameters?.error ?? String(error));
console.log(JSON.stringify({issuer: config.serverMetadata().issuer, expiresIn: tokens.expires_in, used, active, refused}));
