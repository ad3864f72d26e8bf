import { KeyCreatedPage } from '../../../../views/keys/key-created.tsx'
import type { CreatedKey } from '../../../actors/core.ts'
import type { CellarState } from '../../../domain/cellar.ts'
import type { KeyState } from '../../../domain/key.ts'
import { isKeyId, keyIdBytes, makeKeyId } from '../../../domain/key-format.ts'
import { htmlPage } from '../page-answers.tsx'
import { cellarView } from '../show/cellar-views.ts'
import { keyViewOf } from '../show/key-views.ts'
import type { DashboardDeps, Visit } from '../visit.ts'

/**
 * The answer to the form itself shows the key, not a page that it leads to: then the key is in one response, under no
 * address. A reload sends the form again, which makes no other key: the form has the key's id, and a key is made once, on
 * whatever node.
 */
export const keyShownOnce = async (
  deps: DashboardDeps,
  visit: Visit,
  { created, cellar, replaced }: ShownOnce,
): Promise<Response> =>
  htmlPage(
    visit,
    <KeyCreatedPage
      shell={visit.shell}
      cellar={cellarView(cellar)}
      apiKey={await keyViewOf(deps, created.state, visit.nowMs)}
      secretText={created.key}
      replaced={replaced}
      baseUrl={visit.origin.baseUrl}
    />,
    201,
  )

type ShownOnce = {
  readonly created: CreatedKey
  readonly cellar: CellarState
  /** The unused key whose place it took. */
  readonly replaced: KeyState | null
}

/** For a form that makes a key. */
export const drawKeyId = ({ core }: DashboardDeps): string => makeKeyId(core.entropy.bytes(keyIdBytes))

/** The one that a form was sent with, so that it can be shown with it again. */
export const sentKeyId = (deps: DashboardDeps, { form }: Visit): string => {
  const sent = form('_key_id')
  return isKeyId(sent) ? sent : drawKeyId(deps)
}
