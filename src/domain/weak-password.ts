import { type FieldRefusal, invalidField } from './text.ts'

/**
 * Shorter parts of an e-mail or of a cellar's name are not looked for in a new password, because many good passwords contain
 * such parts.
 */
const guessedWordCharsMin = 3
/**
 * A new password that contains an e-mail or the name of a cellar needs this number of other letters and digits.
 * Attackers try such names first.
 */
const ownPartCharsMin = 8

/** `names` are the names of the cellars. An attacker who knows the service tries such words first. */
export type PasswordContext = { readonly email: string; readonly names: readonly string[] }

export type Weakness = 'common' | 'names'

/** The product and its roles, which are names that people give to accounts. */
const ownNames = ['Cellarbook', 'admin', 'auditor', 'operator']

/** Returns words in lower case, in the order in which an attacker would try them. */
export const guessedWords = ({ email, names }: PasswordContext): readonly string[] => {
  const words = [...email.split('@'), ...ownNames, ...names].flatMap((name) => {
    const parts = partsOf(name)
    return [name.toLowerCase(), parts.join(''), ...parts]
  })
  return [...new Set([email.toLowerCase(), ...words])].filter(({ length }) => length >= guessedWordCharsMin)
}

/**
 * Finds passwords that contain little besides the words of `guessedWords`. Only letters and digits count, because attackers
 * also try these words with other characters between or after them.
 */
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
