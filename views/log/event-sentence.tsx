import { Name } from '../parts/name.tsx'
import { ExactInstant } from '../parts/time.tsx'
import { paths } from '../paths.ts'
import { cannotSay, cellarName, keyName, oneLine, type Part, type Sentence } from './sentence-parts.ts'

/** Shows the sentence with links to keys and cellars. */
export const EventSentence = (props: { readonly sentence: Sentence }): JSX.Element => (
  <>
    {props.sentence.map((part) => (
      <SentencePart part={part} />
    ))}
  </>
)

const SentencePart = (props: { readonly part: Part }): JSX.Element => {
  const { part } = props
  switch (part.kind) {
    case 'text':
      return <span safe>{part.text}</span>
    case 'strong':
      return <strong safe>{part.text}</strong>
    case 'typed':
      return <Name text={part.text} />
    case 'instant':
      return <ExactInstant at={part.at} />
    case 'key':
      return (
        <a href={paths.key(part.keyId)}>
          <Name text={keyName(part)} />
        </a>
      )
    case 'cellar':
      return (
        <a href={paths.settings(part.cellar)}>
          <Name text={cellarName(part)} />
        </a>
      )
    case 'operator':
      return <Name text={oneLine(part.email)} />
    default:
      return cannotSay(part)
  }
}
