import { Pill, type PillLook } from '../../parts/pill.tsx'
import { Ago, Instant } from '../../parts/time.tsx'
import { capitalised, kindWords } from '../attention-sentences.ts'
import type { WebhookView } from './webhook-types.ts'

const looks: Readonly<Record<Exclude<WebhookView['state'], 'not used yet'>, PillLook>> = {
  'not sending': 'revoked',
  failing: 'revoked',
  'test failed': 'revoked',
  'not known': 'suspended',
  works: 'active',
}

export const WebhookState = (props: { readonly webhook: WebhookView; readonly nowMs: number }): JSX.Element => {
  const { state, failingSinceMs, nextTryMs } = props.webhook
  if (state === 'not used yet') return <span class="quiet">not used yet</span>
  const pill = <Pill look={looks[state]} word={state} />
  if (state !== 'failing' || failingSinceMs === null) return pill
  return (
    <>
      {pill} since <Ago at={failingSinceMs} nowMs={props.nowMs} />
      {nextTryMs === null ? null : (
        <small class="under quiet">
          next try at <Instant at={nextTryMs} />
        </small>
      )}
    </>
  )
}

/** Some addresses are secret behind the host, and long. */
export const hostOf = (url: string): string => /^https?:\/\/([^/?]+)/.exec(url)?.[1] ?? url

export const toldText = ({ kinds }: Pick<WebhookView, 'kinds'>): string =>
  kinds.length === 0 ? 'Everything' : capitalised(kinds.map((kind) => kindWords[kind]).join(', '))
