import { NewKeyPage } from '../../../../views/keys/key-form.tsx'
import { AllKeysPage, KeysPage } from '../../../../views/keys/keys-page.tsx'
import { paths } from '../../../../views/paths.ts'
import type { NewKey } from '../../../actors/core-interface.ts'
import type { CellarState } from '../../../domain/cellar.ts'
import { type CommandRefusal, done, type Outcome, refused } from '../../../domain/refusal.ts'
import { keyLimitDefault } from '../../../limits.ts'
import { chosenExpiry, type KeyFormValues, keyFormValues, typedLimit } from '../forms/key-fields.ts'
import { type Faults, htmlPage, noFaults, notFound, placedFaults, refusedPage } from '../page-answers.tsx'
import { cellarView } from '../show/cellar-views.ts'
import { keyListOf, keyQueryOf, typedWords } from '../show/key-list.ts'
import { waitForTurn } from '../show/pauses.ts'
import { askerOf, cellarInPath, type DashboardDeps, type SignedInVisit } from '../visit.ts'
import { drawKeyId, keyShownOnce, sentKeyId, wasShown } from './key-shown-once.tsx'

export const showKeys = async (deps: DashboardDeps, visit: SignedInVisit): Promise<Response> => {
  const cellar = cellarInPath(deps, visit)
  if (cellar === null) return notFound(visit)
  const found = await listed(deps, visit, cellar.cellar)
  const { baseUrl } = visit.origin
  return htmlPage(visit, <KeysPage shell={visit.shell} cellar={cellarView(cellar)} {...found} baseUrl={baseUrl} />)
}

export const showAllKeys = async (deps: DashboardDeps, visit: SignedInVisit): Promise<Response> =>
  htmlPage(visit, <AllKeysPage shell={visit.shell} {...(await listed(deps, visit, null))} />)

const listed = async (deps: DashboardDeps, visit: SignedInVisit, cellar: string | null) => {
  const asker = { owner: visit.session.email, pause: waitForTurn }
  const { list } = await keyListOf(deps, keyQueryOf(visit.query, cellar), asker)
  await waitForTurn()
  return { list, typed: typedWords(visit.query) }
}

export const showNewKey = (deps: DashboardDeps, visit: SignedInVisit): Promise<Response> => {
  const cellar = cellarInPath(deps, visit)
  if (cellar === null) return notFound(visit)
  return htmlPage(
    visit,
    newKeyPage(visit, {
      cellar,
      values: { ...keyFormValues(visit.form), expires: visit.form('expires') || '1y' },
      keyId: sentKeyId(deps, visit),
    }),
  )
}

export const createKey = async (deps: DashboardDeps, visit: SignedInVisit): Promise<Response> => {
  const { core } = deps
  const cellar = cellarInPath(deps, visit)
  if (cellar === null) return notFound(visit)
  const values = keyFormValues(visit.form)
  const againAs = (keyId: string) => (faults: Faults) => newKeyPage(visit, { cellar, values, faults, keyId })
  const again = againAs(sentKeyId(deps, visit))

  const input = typedKey(visit, cellar)
  const back = { href: paths.keys(cellar.cellar), words: 'Back to the keys' }
  if (!input.ok) return refusedPage(visit, input.refusal, { back, again })
  const created = await core.keys.create(input.value, askerOf(visit))
  if (!created.ok) {
    const isSpent = created.refusal.kind === 'key_exists'
    const shown = isSpent ? wasShown(deps, visit, (key) => key.cellar === cellar.cellar) : null
    if (shown !== null) return shown
    return refusedPage(visit, created.refusal, { back, again: isSpent ? againAs(drawKeyId(deps)) : again })
  }
  return keyShownOnce(deps, visit, { created: created.value, cellar, replaced: null })
}

const typedKey = ({ form, nowMs }: SignedInVisit, { cellar }: CellarState): Outcome<NewKey, CommandRefusal> => {
  const expiry = chosenExpiry(form, { nowMs, isNew: true })
  if (!expiry.ok) return expiry
  if (expiry.value === 'keep')
    return refused({
      kind: 'invalid_field',
      field: 'expires',
      rule: 'A new key has no earlier expiry that could stay. Choose one of the other options.',
    })
  const limit = typedLimit(form)
  if (!limit.ok) return limit
  const [label, note, keyId] = [form('label'), form('note'), form('_key_id')]
  return done({ cellar, label, note, limit: limit.value, expiresAt: expiry.value, keyId })
}

type Shown = {
  readonly cellar: CellarState
  readonly values: KeyFormValues
  readonly faults?: Faults
  readonly keyId: string
}

const newKeyPage = (visit: SignedInVisit, { cellar, values, faults = noFaults, keyId }: Shown): JSX.Element => (
  <NewKeyPage
    shell={visit.shell}
    cellar={cellarView(cellar)}
    form={{ values, faults: placedFaults(values, faults) }}
    keyId={keyId}
    cellarLimit={cellar.policy.limit ?? keyLimitDefault}
  />
)
