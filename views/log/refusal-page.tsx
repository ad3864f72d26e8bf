import { Layout } from '../frame/layout.tsx'
import { Fact } from '../parts/fact.tsx'
import { attribute, Name } from '../parts/name.tsx'
import { Crumbs } from '../parts/nav-links.tsx'
import { countText } from '../parts/quantity.ts'
import { Ago, ExactInstant } from '../parts/time.tsx'
import { exactClockText, exactText } from '../parts/time-words.ts'
import { paths } from '../paths.ts'
import type { Shell } from '../types.ts'
import { EventFrame } from './event-frame.tsx'
import { EventSentence } from './event-sentence.tsx'
import type { ExplainedSample, ExplainedView } from './log-types.ts'
import { StatusWords } from './status-words.tsx'

export const RefusalPage = (props: { readonly shell: Shell; readonly explained: ExplainedView }): JSX.Element => {
  const { shell, explained } = props
  return (
    <Layout shell={shell} title="Why was it refused?" section="log">
      <Crumbs
        crumbs={[
          <a href={paths.log()}>Log</a>,
          <>
            Request{' '}
            <code>
              <Name text={explained.requestId} />
            </code>
          </>,
        ]}
      />
      <Explained explained={explained} nowMs={shell.nowMs} />
    </Layout>
  )
}

const Explained = (props: { readonly explained: ExplainedView; readonly nowMs: number }): JSX.Element => {
  const { explained } = props
  switch (explained.kind) {
    case 'sample':
      return <Sample sample={explained} nowMs={props.nowMs} />
    case 'summaries':
      return <Summaries explained={explained} nowMs={props.nowMs} />
    case 'not_an_id':
      return (
        <>
          <h1>This is not a request id</h1>
          <div class="card">
            <p>
              Each answer to a device has the id of its request in the header <code>X-Request-Id</code>. Copy the whole
              id.
            </p>
            <a class="button" href={paths.log()}>
              Back to the log
            </a>
          </div>
        </>
      )
    default:
      return unknownExplanation(explained)
  }
}

const Sample = (props: { readonly sample: ExplainedSample; readonly nowMs: number }): JSX.Element => {
  const { sample, nowMs } = props
  const { remedy } = sample
  return (
    <EventFrame
      kind="refusals"
      words="Refused"
      sentence={sample.sentence}
      facts={<SampleFacts sample={sample} nowMs={nowMs} />}
      beside={
        <section class="card" aria-labelledby="remedy-title">
          <h2 id="remedy-title">What to do</h2>
          <p safe>{remedy.words}</p>
          {remedy.link === null ? null : (
            <p>
              <a class="button" href={attribute(remedy.link.href)} safe>
                {remedy.link.words}
              </a>
            </p>
          )}
        </section>
      }
    />
  )
}

const SampleFacts = (props: { readonly sample: ExplainedSample; readonly nowMs: number }): JSX.Element => {
  const { sample, nowMs } = props
  const { keyThen, limitThen, around } = sample
  return (
    <>
      <Fact term="When">
        <ExactInstant at={sample.at} />{' '}
        <span class="quiet unbroken">
          (<Ago at={sample.at} nowMs={nowMs} />)
        </span>
      </Fact>
      <Fact term="Answer">
        <code safe>{`${sample.status ?? ''} ${sample.code}`.trim()}</code>
        {sample.rule === null ? null : (
          <>
            {' '}
            <Name text={sample.rule} />
          </>
        )}
      </Fact>
      {sample.rack === null && sample.keg === null ? null : (
        <Fact term="Rack and keg">
          <Name text={[sample.rack, sample.keg].filter((name) => name !== null).join(', ')} />
        </Fact>
      )}
      {keyThen === null ? null : (
        <Fact term="The key then">
          <StatusWords state={keyThen} />
        </Fact>
      )}
      {limitThen === null ? null : (
        <Fact term="Its limit then">
          <span safe>{limitThen.words}</span>
          {limitThen.used === null ? null : (
            <span class="under" safe>{`${countText(limitThen.used)} used by then`}</span>
          )}
        </Fact>
      )}
      <Fact term="Changed before">
        <Changed sample={sample} />
      </Fact>
      <Fact term="Around it">
        <EventSentence sentence={around.refusals} />{' '}
        <span class="quiet" safe>{`From ${exactClockText(around.from)} to ${exactClockText(around.to)}.`}</span>{' '}
        {around.href === null ? (
          <span class="quiet">The summary is not in the log yet.</span>
        ) : (
          <a href={attribute(around.href)}>See the summary</a>
        )}
      </Fact>
      <Fact term="Kept">This request is one of the samples of its summary. Bodies are never kept.</Fact>
    </>
  )
}

const Changed = (props: { readonly sample: ExplainedSample }): JSX.Element => {
  const { changed, key } = props.sample
  if (key === null) return <span class="quiet">The request had no known key.</span>
  if (changed.length === 0) return <span class="quiet">Nothing of the key or its cellar in the 24 hours before.</span>
  return (
    <ul class="event-links">
      {changed.map(({ at, words, href }) => (
        <li>
          <EventSentence sentence={words} />{' '}
          <a href={attribute(href)} safe>
            {exactText(at)}
          </a>
        </li>
      ))}
    </ul>
  )
}

const Summaries = (props: {
  readonly explained: Extract<ExplainedView, { readonly kind: 'summaries' }>
  readonly nowMs: number
}): JSX.Element => {
  const { at, summaries, goOnHref } = props.explained
  return (
    <>
      <h1>This request is not among the samples</h1>
      <p class="lead">
        The id says that the request came at <ExactInstant at={at} />
        {at > props.nowMs ? '. That is in the future: a clock was ahead, or the id is wrong. ' : '. '}
        If it stored no event, it was refused, or it was a check, a repeat or a request to the dashboard. Refused
        requests are counted, and only some of them are kept as samples.
      </p>
      {summaries.length === 0 ? (
        <div class="card">
          <p>
            <strong>No summary of refusals is about this time.</strong> A summary can come up to 10 minutes after its
            refusals. Summaries are kept for 30 days.
          </p>
          <a class="button" href={attribute(paths.log({ kind: 'refusals', before: null }))}>
            Show the refusals
          </a>
        </div>
      ) : (
        <section class="card" aria-labelledby="summaries-title">
          <h2 id="summaries-title">
            {summaries.length === 1
              ? 'If it was refused, this summary counts it'
              : 'If it was refused, one of these summaries counts it'}
          </h2>
          <ul class="event-links">
            {summaries.map(({ refusals, from, to, href }) => (
              <li>
                <EventSentence sentence={refusals} />{' '}
                {href === null ? (
                  <span
                    class="quiet"
                    safe
                  >{`${exactClockText(from)} to ${exactClockText(to)}, not in the log yet`}</span>
                ) : (
                  <a href={attribute(href)} safe>
                    {`${exactClockText(from)} to ${exactClockText(to)}`}
                  </a>
                )}
              </li>
            ))}
          </ul>
        </section>
      )}
      {goOnHref === null ? null : (
        <p>
          There are many refusals after this time, so the search stopped before all were compared.{' '}
          <a href={attribute(goOnHref)}>Go on searching</a>
        </p>
      )}
    </>
  )
}

const unknownExplanation = (explained: never): never => {
  throw new Error(`Cannot show an explanation: ${JSON.stringify(explained)}`)
}
