"""Systems that users plug in: functions, programs, recorded answers."""
