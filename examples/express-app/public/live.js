const list = document.getElementById('signed-in')
const events = new EventSource('/live/events')

events.onmessage = ({ data }) => {
  const rows = JSON.parse(data).map(({ name, count }) => {
    const row = document.createElement('li')
    row.textContent = count === 1 ? name : `${name}, on ${count} devices`
    return row
  })
  list.replaceChildren(...rows)
}

// The page then shows why the session has ended, and asks to sign in again.
events.addEventListener('sessmgr-ended', () => location.reload())
events.onerror = () => {
  if (events.readyState === EventSource.CLOSED) location.reload()
}
