import { type FieldRefusal, invalidField } from './text.ts'

/** Shorter parts of an e-mail or of a cellar's name do not count: many good passwords contain them. */
const guessedWordCharsMin = 3
/** The characters that a password needs beside such names, because attackers try the names first. */
const ownPartCharsMin = 8

export type PasswordContext = { readonly email: string; readonly names: readonly string[] }

export type Weakness = 'common' | 'names'

/** Names that people give to accounts. */
const ownNames = ['Cellarbook', 'admin', 'auditor', 'operator']

/** In lower case, in the order in which an attacker would try them. */
export const guessedWords = ({ email, names }: PasswordContext): readonly string[] => {
  const words = [...email.split('@'), ...ownNames, ...names].flatMap((name) => {
    const parts = partsOf(name)
    return [name.toLowerCase(), parts.join(''), ...parts]
  })
  return [...new Set([email.toLowerCase(), ...words])].filter(({ length }) => length >= guessedWordCharsMin)
}

/** Only letters and digits count, because attackers also try these words with other characters between or after them. */
export const weaknessByNames = (password: string, context: PasswordContext): Weakness | null => {
  const whole = bare(password)
  const words = guessedWords(context).map(bare)
  const own = words.toSorted((a, b) => b.length - a.length).reduce((left, word) => left.replaceAll(word, ''), whole)
  return own !== whole && own.length < ownPartCharsMin ? 'names' : null
}

export const weakPassword = (weakness: Weakness): { readonly ok: false; readonly refusal: FieldRefusal } =>
  invalidField('password', `This password is easy to guess: ${because[weakness]} ${advice}`)

const because: Readonly<Record<Weakness, string>> = {
  common: 'many people use it, or it has a simple pattern.',
  names: 'it contains little besides your e-mail, the name Cellarbook, a role or the name of a cellar.',
}
const advice = 'Choose another password, for example four unrelated words.'

const partsOf = (text: string): readonly string[] => text.toLowerCase().split(/[^\p{L}\p{N}]+/u)
const bare = (text: string): string => partsOf(text).join('')
