// The panel on the admin screen. It uses the screen's copy of React and its components, so it needs no build.
const { hooks, react, request, useOption, components } = window.sessmgr
const { adminUrl, roleLimits } = window.sessmgr
const { Button, Notice, Panel, TextField } = components
const { createElement: h, useEffect, useState } = react

/** Returns whether the license is active, or undefined until this is known. */
function useLicensed() {
  const [isLicensed, setLicensed] = useState()
  useEffect(() => {
    let isGone = false
    request('GET', 'sessmgr/v1/addons').then(
      ({ items }) => {
        if (!isGone)
          setLicensed(items.some(({ id, is_license_active }) => id === roleLimits.product && is_license_active))
      },
      () => {},
    )
    return () => {
      isGone = true
    }
  }, [])
  return isLicensed
}

/**
 * Puts a limit among the others, in the order in which they are stored. A role without a limit is left out, because it
 * has its own field.
 */
function withLimit(limits, name, typed) {
  const limit = /^\d+$/.test(typed) ? Number(typed) : typed
  return Object.fromEntries(
    Object.entries({ ...limits, [name]: limit })
      .filter(([key, value]) => value !== '' || !roleLimits.roles.includes(key))
      .sort(([one], [other]) => (one < other ? -1 : 1)),
  )
}

function LimitField({ label, limit, problem, autoFocus, onChange }) {
  const value = String(limit)
  return h(TextField, {
    label,
    value,
    problem,
    autoFocus,
    onChange,
    // The mouse wheel would change a focused field of type "number".
    type: 'text',
    inputMode: 'numeric',
    pattern: '[1-9]\\d*',
    title: 'A whole number, 1 or more',
    autoComplete: 'off',
    onFocus: ({ target }) => target.select(),
    className: 'short',
  })
}

function AddUser({ known, onAdd }) {
  const [login, setLogin] = useState('')
  const [problem, setProblem] = useState()
  function add(event) {
    event.preventDefault()
    const name = login.trim()
    if (name === '') return setProblem('Enter a login name first.')
    if (known.some((other) => other.toLowerCase() === name.toLowerCase()))
      return setProblem('This user is already in the list.')
    setLogin('')
    onAdd(name)
  }
  function edit(text) {
    setProblem(undefined)
    setLogin(text)
  }
  return h(
    'form',
    { className: 'line', onSubmit: add },
    h(TextField, { label: 'Login name of a user', value: login, problem, onChange: edit }),
    h(Button, { type: 'submit' }, 'Add user limit'),
  )
}

function RoleLimitsPanel() {
  const [limits, change, { problems }] = useOption('role_limits')
  const [added, setAdded] = useState()
  const isLicensed = useLicensed()
  if (!limits) return null
  const { roles, users } = limits
  const fieldOf = (group, kind, name) =>
    h(LimitField, {
      key: `${group}.${name}`,
      label: `Limit for the ${kind} ${name}`,
      limit: Object.hasOwn(limits[group], name) ? limits[group][name] : '',
      problem: problems[`${group}.${name}`],
      autoFocus: group === 'users' && name === added,
      onChange: (typed) => change({ [group]: withLimit(limits[group], name, typed) }),
    })
  function addUser(name) {
    setAdded(name)
    change({ users: withLimit(users, name, '') })
  }
  return h(
    Panel,
    {
      title: 'Role Limits',
      help: "A role's limit replaces the site's limit, and a user's limit replaces both. Leave a field empty for no separate limit.",
    },
    isLicensed === false &&
      h(
        Notice,
        { tone: 'warning', title: 'Role Limits has no active license' },
        "These limits are saved, but the site's limit applies to everyone. ",
        h('a', { href: `${adminUrl}addons` }, 'Activate a license'),
      ),
    [...new Set([...roleLimits.roles, ...Object.keys(roles)])].map((name) => fieldOf('roles', 'role', name)),
    Object.keys(users).map((name) => fieldOf('users', 'user', name)),
    h(AddUser, { known: Object.keys(users), onAdd: addUser }),
  )
}

hooks.addFilter('sessmgr.settings.panels', 'role-limits', (panels) => [
  ...panels,
  { id: 'role-limits', Component: RoleLimitsPanel },
])
