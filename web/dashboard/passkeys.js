// Passkeys, as the browser and the API speak of them: bytes as base64url.

import {ask} from './api.js';

const TRY_MS_MAX = 240000;  // a challenge lives a little longer

const bytesOf = text => Uint8Array.from(atob(text.replace(/-/g, '+').replace(/_/g, '/')), c => c.charCodeAt(0));
const textOf = buffer => btoa(String.fromCharCode(...new Uint8Array(buffer)))
  .replace(/\+/g, '-').replace(/\//g, '_').replace(/=+$/, '');

// Which ways of signing in there are, here and in this browser: {passkeys, provider}.
export async function waysIn() {
  const ways = await ask('GET', '/dashboard/sign-in');
  return {...ways, passkeys: ways.passkeys && window.PublicKeyCredential !== undefined};
}

async function asked(work) {
  try {
    return await work();
  } catch (e) {
    if (e.name === 'InvalidStateError') throw new Error('This device has a passkey of yours already.');
    throw new Error('The browser has given no passkey: it was refused, or took too long.');
  }
}

// Makes one by the options that the API answered.
export async function makePasskey(options, name) {
  const made = await asked(() => navigator.credentials.create({publicKey: {
    challenge: bytesOf(options.challenge),
    rp: {id: options.rp_id, name: 'vedette'},
    user: {id: bytesOf(options.user_id), name: options.user_name, displayName: options.user_name},
    pubKeyCredParams: options.algorithms.map(alg => ({type: 'public-key', alg})),
    excludeCredentials: options.exclude.map(id => ({type: 'public-key', id: bytesOf(id)})),
    authenticatorSelection: {residentKey: 'required', requireResidentKey: true, userVerification: 'required'},
    attestation: 'none',
    timeout: TRY_MS_MAX,
  }}));
  return {client_data: textOf(made.response.clientDataJSON), attestation: textOf(made.response.attestationObject), name};
}

// Shows one of the person's who has the address, or of the one who holds the device where it is empty.
export async function showPasskey(email) {
  const options = await ask('POST', '/dashboard/passkeys/challenge', {email: email || undefined});
  const {rawId, response} = await asked(() => navigator.credentials.get({publicKey: {
    challenge: bytesOf(options.challenge), rpId: options.rp_id, userVerification: 'required', timeout: TRY_MS_MAX}}));
  return {id: textOf(rawId), client_data: textOf(response.clientDataJSON),
          authenticator_data: textOf(response.authenticatorData), signature: textOf(response.signature)};
}
