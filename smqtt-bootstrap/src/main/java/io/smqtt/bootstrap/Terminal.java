// SPDX-License-Identifier: Apache-2.0
package io.smqtt.bootstrap;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.concurrent.TimeUnit;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** The terminal that a program prints to. */
final class Terminal {

    private static final int LEAST_COLUMNS = 40;
    private static final Pattern SIZE = Pattern.compile("\\d+ (\\d{1,5})\\s*");
    private static final Pattern NUMBER = Pattern.compile("\\d{1,5}");

    private Terminal() {}

    /**
     * Returns the characters of a line: what {@code COLUMNS} says, else what the terminal does. Blocks.
     *
     * @return at least 40; 0 if the output is no terminal
     */
    static int columns(ProgramContext program) {
        String columns = program.environment().getOrDefault("COLUMNS", "");
        if (NUMBER.matcher(columns).matches()) {
            return Math.max(LEAST_COLUMNS, Integer.parseInt(columns));
        }
        return System.console() == null ? 0 : asked();
    }

    private static int asked() {
        try {
            Process stty = new ProcessBuilder("stty", "size")
                    .redirectInput(ProcessBuilder.Redirect.INHERIT)
                    .redirectError(ProcessBuilder.Redirect.DISCARD)
                    .start();
            String size = new String(stty.getInputStream().readAllBytes(), StandardCharsets.US_ASCII);
            Matcher matcher = SIZE.matcher(size);
            boolean told = stty.waitFor(1, TimeUnit.SECONDS) && matcher.matches();
            int columns = told ? Integer.parseInt(matcher.group(1)) : 0;
            return columns == 0 ? 0 : Math.max(LEAST_COLUMNS, columns);
        } catch (IOException e) {
            return 0; // a system without stty
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            return 0;
        }
    }
}
