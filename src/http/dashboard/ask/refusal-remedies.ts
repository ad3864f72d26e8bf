/** For people. The texts for devices are in `src/http/problem.ts`. */
import type { ExplainedSample } from '../../../../views/log/log-types.ts'
import { paths } from '../../../../views/paths.ts'
import type { RefusalSample } from '../../../domain/refusals/waiting-refusals.ts'
import { nameWords, timestampWords } from '../../field-words.ts'

type Sample = Pick<RefusalSample, 'code' | 'field' | 'rule'>
type Place = { readonly keyId: string; readonly cellar: string } | null

export const remedyOf = ({ code, rule }: Sample, place: Place): ExplainedSample['remedy'] => {
  const link = (words: string, hrefOf: (known: NonNullable<Place>) => string) =>
    place === null ? null : { words, href: hrefOf(place) }
  const [toKey, toSettings] = [
    link('Go to the key', ({ keyId }) => paths.key(keyId)),
    link('Go to the cellar’s rules', ({ cellar }) => paths.settings(cellar)),
  ]
  switch (code) {
    case 'RATE_LIMITED':
      return rule === 'cost'
        ? {
            words: 'Correct the requests of this device that are refused: each of them uses up the budget of its key.',
            link: toGuide,
          }
        : {
            words:
              'The device did right if it waited and sent the reading again. To let more readings through, an admin can raise the limit of the key.',
            link: toKey,
          }
    case 'KEY_REVOKED':
      return {
        words: 'A revoked key never works again. Give the device a new key.',
        link: link('Go to the keys', ({ cellar }) => paths.keys(cellar)),
      }
    case 'KEY_SUSPENDED':
      return { words: 'An admin can resume the key. Its readings are accepted again then.', link: toKey }
    case 'KEY_EXPIRED':
      return { words: 'An admin can set a later expiry. Or give the device a new key.', link: toKey }
    case 'TIMESTAMP_TOO_OLD':
    case 'TIMESTAMP_IN_FUTURE':
      return {
        words:
          'Check the clock of the device. If its timestamps are right, an admin can change the rules of the cellar.',
        link: toSettings,
      }
    case 'CELLAR_MISMATCH':
      return { words: 'Correct the cellar that the device sends, or give it a key of that cellar.', link: toKey }
    case 'IDEMPOTENCY_KEY_REUSED':
      return { words: 'The device must send a new Idempotency-Key with each new payload.', link: toGuide }
    case 'STORE_UNAVAILABLE':
    case 'STORAGE_FULL':
    case 'OVERLOADED':
    case 'INTERNAL_ERROR':
    case 'IDEMPOTENCY_IN_PROGRESS':
      return { words: 'The device did right if it sent the same request again later.', link: null }
    default:
      return { words: 'Correct the program of the device: the same request is refused each time.', link: toGuide }
  }
}

const toGuide = { words: 'Read the device guide', href: paths.devicesGuide }

export const ruleWords = ({ code, field, rule }: Sample): string | null => {
  const words = nameWords(field)
  if (code === 'INVALID_NAME' && rule !== null && isIn(words, rule)) return `${field ?? 'A name'} ${words[rule]}`
  if (code === 'INVALID_TIMESTAMP' && rule !== null && isIn(timestampWords, rule)) return timestampWords[rule]
  if (code === 'INVALID_TYPE' && rule !== null) return `${field ?? 'A field'} must be a JSON ${rule}.`
  if (code === 'MISSING_FIELD' && field !== null) return `${field} is missing.`
  return field === null ? null : `The field is ${field}.`
}

const isIn = <T extends object>(table: T, name: string | number | symbol): name is keyof T => Object.hasOwn(table, name)
