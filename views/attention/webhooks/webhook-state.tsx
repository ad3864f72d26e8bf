import { Pill } from '../../parts/pill.tsx'
import { Ago } from '../../parts/time.tsx'
import { capitalised, kindWords } from '../attention-sentences.ts'
import type { WebhookView } from './webhook-types.ts'

export const WebhookState = (props: { readonly webhook: WebhookView; readonly nowMs: number }): JSX.Element => {
  const { why, failingSinceMs, nextTryMs, last } = props.webhook
  if (why !== null) return <Pill look="revoked" word="not sending" />
  if (failingSinceMs === null) {
    if (last === null) return <Pill look="soon" word="not used yet" />
    const hasFailed = last.ended !== null && last.ended.outcome !== 'delivered'
    return <Pill look={hasFailed ? 'revoked' : 'active'} word={hasFailed ? 'test failed' : 'works'} />
  }
  return (
    <>
      <Pill look="revoked" word="failing" /> since <Ago at={failingSinceMs} nowMs={props.nowMs} />
      {nextTryMs === null ? null : (
        <small class="under quiet">
          next try <Ago at={nextTryMs} nowMs={props.nowMs} />
        </small>
      )}
    </>
  )
}

/** Some addresses are secret behind the host, and long. */
export const hostOf = (url: string): string => /^https?:\/\/([^/?]+)/.exec(url)?.[1] ?? url

export const toldText = ({ kinds }: Pick<WebhookView, 'kinds'>): string =>
  kinds.length === 0 ? 'Everything' : capitalised(kinds.map((kind) => kindWords[kind]).join(', '))
