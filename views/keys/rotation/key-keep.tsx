import { Breadcrumbs } from '../../cellars/cellar-frame.tsx'
import { Layout } from '../../frame/layout.tsx'
import { ConfirmCard } from '../../parts/confirm-card.tsx'
import { Choices } from '../../parts/field.tsx'
import { Name } from '../../parts/name.tsx'
import { durationWords, secondText } from '../../parts/time-words.ts'
import { paths } from '../../paths.ts'
import type { CellarView, Form, KeyView, Shell } from '../../types.ts'
import { OldKeyEnd, StillUsing } from './rotation-card.tsx'
import type { RotationView } from './rotation-types.ts'

/** `end` is an absolute time, so a form that is sent twice adds nothing. `null`: no end. */
export type LaterEnd = { readonly end: number | null; readonly addedMs: number }

export const KeepKeyPage = (props: {
  readonly shell: Shell
  readonly cellar: CellarView
  readonly apiKey: KeyView
  readonly rotation: RotationView
  readonly ends: readonly LaterEnd[]
  readonly form: Form<'end'>
}): JSX.Element => {
  const { apiKey, rotation, shell, form } = props
  const laterWords = (ms: number): string => (isOver ? `In ${durationWords(ms)}` : `${durationWords(ms)} later`)
  const isOver = apiKey.expiresAt !== null && apiKey.expiresAt <= shell.nowMs
  return (
    <Layout shell={shell} title={`Keep the old key of ${apiKey.label} longer?`} section="cellars" narrow>
      <Breadcrumbs cellar={props.cellar} apiKey={apiKey} />
      <ConfirmCard
        title={
          <>
            Keep the old key of <Name text={apiKey.label} /> longer?
          </>
        }
        csrf={shell.csrf}
        action={paths.keepKey(apiKey.keyId)}
        fault={form.faults.form}
        fields={
          <Choices
            name="end"
            legend="The old key stops"
            choices={props.ends.map(({ end, addedMs }) => [
              end === null ? 'never' : String(end),
              end === null ? 'Only when you retire it' : `${laterWords(addedMs)}: ${secondText(end)}`,
            ])}
            chosen={form.values.end}
            fault={form.faults.end}
          />
        }
        button={rotation.old.status === 'expired' ? 'Let it work again' : 'Keep old key'}
        isDangerous={false}
        cancel={paths.key(apiKey.keyId)}
      >
        <p>
          <OldKeyEnd rotation={rotation} nowMs={shell.nowMs} />
        </p>
        <StillUsing rotation={rotation} nowMs={shell.nowMs} />
      </ConfirmCard>
    </Layout>
  )
}
