// SPDX-License-Identifier: Apache-2.0
package io.smqtt.persistence;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;

/** Reads uptime and boot identifier where Linux has them; elsewhere they are unknown. */
final class LinuxMachine implements StoreClock.Machine {

    private static final Path UPTIME = Path.of("/proc/uptime");
    private static final Path BOOT_ID = Path.of("/proc/sys/kernel/random/boot_id");

    private final String bootId = read(BOOT_ID);

    @Override
    public long wallMillis() {
        return System.currentTimeMillis();
    }

    @Override
    public long uptimeMillis() {
        String text = read(UPTIME);
        int dot = text.indexOf('.'); // seconds with two decimals, a blank, idle time
        if (dot < 0 || text.length() < dot + 3) {
            return 0;
        }
        try {
            return Long.parseLong(text, 0, dot, 10) * 1_000 + Long.parseLong(text, dot + 1, dot + 3, 10) * 10;
        } catch (NumberFormatException e) {
            return 0;
        }
    }

    @Override
    public String bootId() {
        return bootId;
    }

    private static String read(Path file) {
        try {
            return Files.readString(file).trim();
        } catch (IOException | SecurityException e) {
            return "";
        }
    }
}
