import { escapeHtml } from '@kitajs/html'
import { attribute, Name } from '../parts/name.tsx'
import { ExactInstant } from '../parts/time.tsx'
import { paths } from '../paths.ts'
import { cannotSay, cellarName, keyName, keyPrefix, oneLine, type Part, type Sentence } from './sentence-parts.ts'

/** The page of the key `ofKey` has no link to itself. Keys can have equal labels, so the others are named by their prefix, too. */
export const EventSentence = (props: { readonly sentence: Sentence; readonly ofKey?: string }): JSX.Element => (
  <>
    {props.sentence.map((part) => (
      <SentencePart part={part} ofKey={props.ofKey ?? null} />
    ))}
  </>
)

const SentencePart = (props: { readonly part: Part; readonly ofKey: string | null }): JSX.Element => {
  const { part } = props
  switch (part.kind) {
    case 'text':
      return escapeHtml(part.text)
    case 'strong':
      return <strong safe>{part.text}</strong>
    case 'typed':
      return <Name text={part.text} />
    case 'instant':
      return <ExactInstant at={part.at} />
    case 'key':
      return part.keyId === props.ofKey ? (
        <Name text={keyName(part)} />
      ) : (
        <>
          <a href={paths.key(part.keyId)}>
            <Name text={keyName(part)} />
          </a>
          <span class="key-prefix" safe>
            {keyPrefix(part)}
          </span>
        </>
      )
    case 'cellar':
      return (
        <a href={paths.settings(part.cellar)}>
          <Name text={cellarName(part)} />
        </a>
      )
    case 'operator':
      return <Name text={oneLine(part.email)} />
    case 'webhook':
      return part.host === null ? (
        <Name text={`“${part.webhookId}”`} />
      ) : (
        <a href={attribute(paths.webhook(part.webhookId))}>
          <Name text={oneLine(part.host)} />
        </a>
      )
    default:
      return cannotSay(part)
  }
}
