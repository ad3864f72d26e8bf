/** The vault of a cellar with the lines of a book. CSS sets the colour of the last line. */
export const Logo = (): JSX.Element => (
  <svg class="logo" viewBox="0 0 32 32" width="32" height="32" aria-hidden="true" focusable="false">
    <path
      d="M4 28.5V16a12 12 0 0 1 24 0v12.5z"
      fill="none"
      stroke="currentColor"
      stroke-width="2.5"
      stroke-linejoin="round"
    />
    <path d="M10 23.5h12M10 19h12" fill="none" stroke="currentColor" stroke-width="2" stroke-linecap="round" />
    <path class="logo-accent" d="M10 14.5h7" fill="none" stroke-width="2.5" stroke-linecap="round" />
  </svg>
)

export const Wordmark = (): JSX.Element => (
  <>
    <Logo />
    <span class="wordmark">Cellarbook</span>
  </>
)
