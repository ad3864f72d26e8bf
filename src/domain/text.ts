/** Lengths are in code points, which clients in every programming language can count. */
import { mayHide, piecesOf } from '../hidden-characters.ts'
import { nameCodePointsMax, passwordBytesMax, passwordCharsMin } from '../limits.ts'
import { assertNever, type CommandRefusal, done, type NameFault, type Outcome, refused } from './refusal.ts'

const labelCodePointsMax = 80
const noteCodePointsMax = 500
const reasonCodePointsMax = 300
const cellarTitleCodePointsMax = 120
const unitCodePointsMax = 16
const emailCharsMax = 254

/** docs/contract.md, "Names". It runs three times for every reading, so it creates no objects for printable ASCII. */
export const nameFault = (text: string, codePointsMax = nameCodePointsMax): NameFault | null => {
  const { length } = text
  for (let at = 0; at < length; at += 1) {
    const code = text.charCodeAt(at)
    if (code < 0x20 || code > 0x7e) return unicodeFault(text, codePointsMax)
  }
  if (length === 0) return 'blank'
  if (text.charCodeAt(0) === 0x20 || text.charCodeAt(length - 1) === 0x20) {
    return text.trim() === '' ? 'blank' : 'outer_space'
  }
  return length > codePointsMax ? 'too_long' : null
}

export type FieldRefusal = Extract<CommandRefusal, { readonly kind: 'invalid_field' }>
export type Typed<T> = Outcome<T, FieldRefusal>

export const invalidField = (field: string, rule: string): { readonly ok: false; readonly refusal: FieldRefusal } =>
  refused({ kind: 'invalid_field', field, rule })

/** Spaces at the ends are refused: a device that sends them would not match a trimmed identifier. */
export const parseCellar = (text: string): Typed<string> => {
  if (withoutSecrets(text) !== text) return invalidField('cellar', 'The identifier must not contain an API key.')
  const fault = nameFault(text)
  return fault === null ? done(text) : invalidField('cellar', `The identifier ${ruleOf(fault, nameCodePointsMax)}`)
}

/** Titles, labels, reasons and notes are trimmed, can be blank, and lose the secrets of keys. */
export const parseTitle = (text: string): Typed<string> =>
  parseLine(text, { field: 'title', noun: 'title', codePointsMax: cellarTitleCodePointsMax })

export const parseLabel = (text: string): Typed<string> =>
  parseLine(text, { field: 'label', noun: 'label', codePointsMax: labelCodePointsMax })

/** `field` is the form field of the name. */
export const parseKeg = (text: string, field: string): Typed<string> => {
  if (withoutSecrets(text) !== text) return invalidField(field, 'The name must not contain an API key.')
  const fault = nameFault(text)
  return fault === null ? done(text) : invalidField(field, `The name ${ruleOf(fault, nameCodePointsMax)}`)
}

/** Blank: no unit. It stands beside values, so a hidden character could change how they look. */
export const parseUnit = (text: string): Typed<string> => {
  const unit = parseLine(text, { field: 'unit', noun: 'unit', codePointsMax: unitCodePointsMax })
  if (!unit.ok || !mayHide(unit.value) || !piecesOf(unit.value).some(({ hidden }) => hidden)) return unit
  return invalidField('unit', 'The unit must not contain hidden characters.')
}

export const parseReason = (text: string): Typed<string> =>
  parseLine(text, { field: 'reason', noun: 'reason', codePointsMax: reasonCodePointsMax })

/** Browsers send line breaks as CR LF. With LF, saving a form does not change an unedited note. */
export const parseNote = (text: string): Typed<string> => {
  const note = withoutSecrets(text.trim()).replaceAll('\r\n', '\n')
  const fault = unicodeFault(note.replaceAll('\n', ' '), noteCodePointsMax)
  if (fault === null || fault === 'blank') return done(note)
  return invalidField('note', `The note ${ruleOf(fault, noteCodePointsMax)}`)
}

/**
 * People paste a whole key where its id is enough. But stored texts are kept for ever, and browsers and proxies keep
 * addresses. Fewer than 16 characters of a secret tell too little, and can be a label like `clr_7Qp2mZ4k_old`. `app.js` has
 * the same expression.
 */
export const withoutSecrets = (text: string): string =>
  text.replace(/(clr_[0-9A-Za-z]{8})_[0-9A-Za-z]{16,}|(\/link\/)[0-9A-Za-z]{43}/g, '$1$2')

export const parseEmail = (text: string): Typed<string> => {
  const email = text.trim().toLowerCase()
  if (email.length > emailCharsMax) {
    return invalidField('email', `The e-mail must be at most ${emailCharsMax} characters.`)
  }
  const isAddress = /^[^\s@]+@[^\s@]+$/u.test(email) && withoutSecrets(text) === text
  if (!isAddress || unicodeFault(email, emailCharsMax) !== null) {
    return invalidField('email', 'The e-mail must look like name@example.org.')
  }
  return done(email)
}

/** Any characters are allowed, with a minimum length (NIST SP 800-63B, section 5.1.1.2). */
export const parsePassword = (text: string): Typed<string> => {
  if (!text.isWellFormed()) return invalidField('password', 'The password must be valid Unicode text.')
  if ([...text].length < passwordCharsMin) {
    return invalidField('password', `The password must be at least ${passwordCharsMin} characters.`)
  }
  if (Buffer.byteLength(text) > passwordBytesMax) {
    return invalidField('password', `The password must be at most ${passwordBytesMax} bytes in UTF-8.`)
  }
  return done(text)
}

type LineRule = { readonly field: string; readonly noun: string; readonly codePointsMax: number }

const parseLine = (text: string, { field, noun, codePointsMax }: LineRule): Typed<string> => {
  const line = withoutSecrets(text.trim())
  const fault = unicodeFault(line, codePointsMax)
  if (fault === null || fault === 'blank') return done(line)
  return invalidField(field, `The ${noun} ${ruleOf(fault, codePointsMax)}`)
}

const ruleOf = (fault: NameFault, codePointsMax: number): string => {
  switch (fault) {
    case 'blank':
      return `must not be blank: 1 to ${codePointsMax} characters.`
    case 'outer_space':
      return 'must not begin or end with a space.'
    case 'too_long':
      return `must be at most ${codePointsMax} characters.`
    case 'control_character':
      return 'must not contain control characters.'
    case 'lone_surrogate':
      return 'must be valid Unicode text.'
    default:
      return assertNever(fault)
  }
}

/** A loop over code points would create a string for each, which is slow. */
const unicodeFault = (text: string, codePointsMax: number): NameFault | null => {
  const trimmed = text.trim()
  if (trimmed === '') return 'blank'
  let pairs = 0
  let isWellFormed = true
  for (let at = 0; at < text.length; at += 1) {
    const code = text.charCodeAt(at)
    if (code < 0x20 || (code > 0x7e && code < 0xa0)) return 'control_character'
    if (!isSurrogate(code)) continue
    if (isPair(code, text.charCodeAt(at + 1))) {
      pairs += 1
      at += 1
    } else isWellFormed = false
  }
  if (!isWellFormed) return 'lone_surrogate'
  if (trimmed.length !== text.length) return 'outer_space'
  return text.length - pairs > codePointsMax ? 'too_long' : null
}

const isSurrogate = (code: number): boolean => (code & 0xf800) === 0xd800
const isPair = (high: number, low: number): boolean => (high & 0xfc00) === 0xd800 && (low & 0xfc00) === 0xdc00
