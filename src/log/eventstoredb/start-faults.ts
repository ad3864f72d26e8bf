/** No server answers, or none that leads: a later start may find one. */
export class StoreUnreachable extends Error {
  override readonly name = 'StoreUnreachable'
}

/** The server is there, and no waiting will make it fit: wrong credentials, an unknown certificate, too old a version. */
export class StoreMisfit extends Error {
  override readonly name = 'StoreMisfit'
}
