import { Fact } from '../parts/fact.tsx'
import { Name } from '../parts/name.tsx'
import { Pill } from '../parts/pill.tsx'
import { countText } from '../parts/quantity.ts'
import { Ago } from '../parts/time.tsx'
import type { LogCheckView } from '../types.ts'

export const LogCheck = (props: { readonly check: LogCheckView; readonly nowMs: number }): JSX.Element => {
  const { check, nowMs } = props
  return (
    <section class="card below-table" aria-labelledby="log-check">
      <h2 id="log-check">Event log</h2>
      {check.kind === 'waiting' ? (
        <p class="quiet">Not checked yet since the service started. The first check is under way or begins soon.</p>
      ) : (
        <>
          <p class="state">
            <Pill look={looks[check.kind]} word={words[check.kind]} /> <span>{meanings[check.kind]}</span>
          </p>
          <dl class="facts">
            <Fact term="Last check">
              <Ago at={check.at} nowMs={nowMs} />
            </Fact>
            <CheckFacts check={check} />
          </dl>
        </>
      )}
    </section>
  )
}

type Ended = Exclude<LogCheckView, { readonly kind: 'waiting' }>

const CheckFacts = ({ check }: { readonly check: Ended }): JSX.Element => {
  switch (check.kind) {
    case 'sound':
      return (
        <Fact term="Events checked">
          <span safe>{countText(check.events)}</span>
        </Fact>
      )
    case 'damaged':
      return (
        <>
          <Fact term="Found">
            <span safe>{check.found}</span>
          </Fact>
          <Fact term="First damage" isWide>
            <Name text={check.first} />
          </Fact>
        </>
      )
    case 'failed':
      return (
        <Fact term="Cause" isWide>
          <Name text={check.why} />
        </Fact>
      )
  }
}

const looks = { sound: 'active', damaged: 'revoked', failed: 'suspended' } as const
const words = { sound: 'sound', damaged: 'damaged', failed: 'not checked' } as const
const meanings = {
  sound: 'No damage was found. The whole log is read once a day.',
  damaged: 'Check the disk, and restore a backup into an empty data folder.',
  failed: 'The log could not be read to its end. The next check is in a day.',
} as const
