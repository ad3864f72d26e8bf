import { KeyCreatedPage } from '../../../../views/keys/key-created.tsx'
import { paths } from '../../../../views/paths.ts'
import type { CreatedKey } from '../../../actors/core-interface.ts'
import type { CellarState } from '../../../domain/cellar.ts'
import type { KeyState } from '../../../domain/key.ts'
import { isKeyId, keyIdBytes, makeKeyId } from '../../../domain/key-format.ts'
import { htmlPage, seeOther } from '../page-answers.tsx'
import { cellarView } from '../show/cellar-views.ts'
import { keyViewOf } from '../show/key-views.ts'
import type { DashboardDeps, Visit } from '../visit.ts'

/**
 * In the answer to the POST itself: another node could get the request after a redirect. `app.js` replaces its address, so that
 * loading it again sends no form. Without JavaScript, the id in the form tells that the key was made already.
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
  /** The unused key of an earlier rotation, which the new key replaces. */
  readonly replaced: KeyState | null
}

/** If the form made this key before, the page of the key says that the text is not shown again. */
export const wasShown = ({ core }: DashboardDeps, visit: Visit, isOf: (key: KeyState) => boolean): Response | null => {
  const key = core.projections.keys.get(visit.form('_key_id'))
  return key !== null && isOf(key) ? seeOther(visit, paths.keyShown(key.keyId)) : null
}

export const drawKeyId = ({ core }: DashboardDeps): string => makeKeyId(core.entropy.bytes(keyIdBytes))

export const sentKeyId = (deps: DashboardDeps, { form }: Visit): string => {
  const sent = form('_key_id')
  return isKeyId(sent) ? sent : drawKeyId(deps)
}
