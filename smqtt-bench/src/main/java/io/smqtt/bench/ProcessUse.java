// SPDX-License-Identifier: Apache-2.0
package io.smqtt.bench;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;

/**
 * The resource use of a process between two times, from Linux's {@code /proc}.
 *
 * @param cpuSeconds of all its threads, in user and kernel mode, in steps of 10 ms
 * @param residentBytes its resident memory at the later time
 */
record ProcessUse(double cpuSeconds, long residentBytes) {

    private static final double TICKS_PER_SECOND = 100;

    /** The use since its start. @throws LoadFailure if there is no such process or no {@code /proc} */
    static ProcessUse of(long pid) {
        return of(Path.of("/proc", Long.toString(pid)), pid);
    }

    static ProcessUse of(Path directory, long pid) {
        try {
            return parse(Files.readString(directory.resolve("stat")), Files.readString(directory.resolve("status")));
        } catch (IOException | RuntimeException e) {
            throw new LoadFailure("the process " + pid + " cannot be read below /proc");
        }
    }

    /** Fields 14 and 15 of stat, counted after the program's name, which may contain blanks and brackets. */
    static ProcessUse parse(String stat, String status) {
        String[] fields = stat.substring(stat.lastIndexOf(')') + 2).split(" ", -1);
        double seconds = (Long.parseLong(fields[11]) + Long.parseLong(fields[12])) / TICKS_PER_SECOND;
        long resident = 0;
        for (String line : status.split("\n", -1)) {
            if (line.startsWith("VmRSS:")) {
                resident = Long.parseLong(line.replaceAll("\\D", "")) * 1024;
            }
        }
        return new ProcessUse(seconds, resident);
    }

    ProcessUse since(ProcessUse before) {
        return new ProcessUse(cpuSeconds - before.cpuSeconds, residentBytes);
    }
}
