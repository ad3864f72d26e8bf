import { FieldFault, inputOf } from './field.tsx'
import { attribute } from './name.tsx'
import { isoText, secondText } from './time-words.ts'

/**
 * By GET, so that the answer has an address to send to others. What is typed counts before what is chosen, so the first
 * field is blank beside an answer.
 */
export const TimeForm = (props: {
  readonly action: string
  /** `null` without an answer. */
  readonly at: number | null
  /** What was typed, if it was refused. */
  readonly refused: { readonly typed: string; readonly rule: string } | null
  readonly nowMs: number
}): JSX.Element => (
  <>
    <form method="get" action={attribute(props.action)} class="ask">
      <label for="field-at">Time (UTC)</label>
      <input
        {...inputOf({ name: 'at', fault: props.refused?.rule })}
        type="text"
        autocomplete="off"
        spellcheck="false"
        value={attribute(props.refused?.typed ?? '')}
        placeholder={`10:14 or ${secondText(props.nowMs).replace(' UTC', '')}`}
      />
      <label for="field-pick">or choose it, in UTC</label>
      <input
        id="field-pick"
        name="pick"
        type="datetime-local"
        step="1"
        value={props.at === null ? undefined : isoText(props.at).slice(0, secondChars)}
      />
      <button type="submit" class="secondary">
        Check
      </button>
    </form>
    <FieldFault name="at" fault={props.refused?.rule} />
  </>
)

/** The picker takes no milliseconds and no zone. */
const secondChars = 'YYYY-MM-DDThh:mm:ss'.length
