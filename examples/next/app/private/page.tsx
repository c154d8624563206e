export default function Private() {
  return <p>Only for users.</p>
}
