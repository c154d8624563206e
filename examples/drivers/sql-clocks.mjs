/**
 * The clock of each database, in whole milliseconds since the Unix epoch. Uses UTC, because local time is set back in
 * autumn.
 */
export const SQL_CLOCKS = {
  postgres: '(extract(epoch FROM clock_timestamp()) * 1000)::bigint',
  mysql: "(timestampdiff(MICROSECOND, '1970-01-01', utc_timestamp(3)) DIV 1000)",
  sqlite: "cast((julianday('now') - 2440587.5) * 86400000 AS integer)",
}
