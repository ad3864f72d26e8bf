/**
 * Makes a self-signed certificate for 127.0.0.1 and a name. A certificate in the repository would expire. RFC 5280,
 * section 4.1, lists its fields. DER is their binary form: each value has a tag for its type, a length and its content.
 */
import { generateKeyPairSync, sign } from 'node:crypto'

export type Certificate = { readonly cert: string; readonly key: string }

const dayMs = 86_400_000

export const selfSigned = (
  kind: 'ec' | 'rsa' = 'ec',
  endsAtMs = Date.now() + dayMs,
  host = 'localhost',
): Certificate => {
  const isRsa = kind === 'rsa'
  const { publicKey, privateKey } = isRsa
    ? generateKeyPairSync('rsa', { modulusLength: 2048 })
    : generateKeyPairSync('ec', { namedCurve: 'P-256' })
  const algorithm = isRsa ? rsaWithSha256 : ecdsaWithSha256
  const name = sequence(set(sequence(oid(0x55, 0x04, 0x03), text('cellarbook'))))
  const validity = sequence(time(Date.now() - dayMs), time(endsAtMs))
  const loopback = tagged(0x87, Buffer.from([127, 0, 0, 1]))
  const named = tagged(0x82, Buffer.from(host))
  const alternativeName = sequence(oid(0x55, 0x1d, 0x11), octets(sequence(loopback, named)))
  const toBeSigned = sequence(
    tagged(0xa0, integer(2)),
    integer(1),
    algorithm,
    name,
    validity,
    name,
    publicKey.export({ type: 'spki', format: 'der' }),
    tagged(0xa3, sequence(alternativeName)),
  )
  const signature = tagged(0x03, Buffer.from([0]), sign('sha256', toBeSigned, privateKey))
  const certificate = sequence(toBeSigned, algorithm, signature)
  return {
    cert: `-----BEGIN CERTIFICATE-----\n${certificate.toString('base64')}\n-----END CERTIFICATE-----\n`,
    key: String(privateKey.export({ type: 'pkcs8', format: 'pem' })),
  }
}

const tagged = (tag: number, ...parts: readonly Buffer[]): Buffer => {
  const content = Buffer.concat(parts)
  const { length } = content
  // A length below 128 is one byte. A larger one begins with 128 plus the number of bytes that the length takes.
  const lengthBytes = length < 0x80 ? [length] : length < 0x100 ? [0x81, length] : [0x82, length >> 8, length & 0xff]
  return Buffer.concat([Buffer.from([tag, ...lengthBytes]), content])
}

const sequence = (...parts: readonly Buffer[]): Buffer => tagged(0x30, ...parts)
const set = (...parts: readonly Buffer[]): Buffer => tagged(0x31, ...parts)
const integer = (value: number): Buffer => tagged(0x02, Buffer.from([value]))
const octets = (content: Buffer): Buffer => tagged(0x04, content)
const oid = (...bytes: readonly number[]): Buffer => tagged(0x06, Buffer.from(bytes))
const text = (value: string): Buffer => tagged(0x0c, Buffer.from(value))
/** Encodes a time as certificates contain it: as the type UTCTime (tag 0x17), in the form `YYMMDDhhmmssZ`. */
const time = (ms: number): Buffer => {
  const digits = new Date(ms).toISOString().replaceAll(/[-:T]/g, '').slice(2, 14)
  return tagged(0x17, Buffer.from(`${digits}Z`))
}

const ecdsaWithSha256 = sequence(oid(0x2a, 0x86, 0x48, 0xce, 0x3d, 0x04, 0x03, 0x02))
/** In a certificate, the value NULL (bytes 5 and 0) must follow the name of an RSA algorithm, but not that of ECDSA. */
const rsaWithSha256 = sequence(oid(0x2a, 0x86, 0x48, 0x86, 0xf7, 0x0d, 0x01, 0x01, 0x0b), Buffer.from([0x05, 0x00]))
