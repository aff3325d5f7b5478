// SPDX-License-Identifier: Apache-2.0
package io.smqtt.access;

import io.smqtt.config.ConfigurationException;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.CharBuffer;
import java.nio.charset.CoderResult;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;

/** Reads the small text files of this package, whole and as strict UTF-8, and words complaints about them. */
final class TextFile {

    private static final long MAXIMUM_BYTES = 64L << 20;
    private static final int SHOWN_CHARACTERS = 64;

    private TextFile() {}

    /** The lines without their ends; what a broken or missing file gives is an exception that names it. */
    static List<String> lines(Path file) {
        try {
            if (Files.size(file) > MAXIMUM_BYTES) {
                throw new ConfigurationException(file + ": is larger than 64 MiB; is this the right file?");
            }
            return split(decode(file, Files.readAllBytes(file)));
        } catch (IOException e) {
            throw new ConfigurationException(file + ": cannot be read ("
                    + e.getClass().getSimpleName() + "); check the path and its permissions");
        }
    }

    /** A complaint about one line. */
    static ConfigurationException error(Path file, int lineNumber, String problem) {
        return new ConfigurationException(file + ":" + lineNumber + ": " + problem);
    }

    /** A piece of a file, short and without control characters, for a complaint. */
    static String quote(String text) {
        StringBuilder quoted = new StringBuilder("'");
        for (int i = 0; i < Math.min(text.length(), SHOWN_CHARACTERS); i++) {
            char c = text.charAt(i);
            quoted.append(Character.isISOControl(c) ? '?' : c);
        }
        return quoted.append(text.length() > SHOWN_CHARACTERS ? "…'" : "'").toString();
    }

    private static CharBuffer decode(Path file, byte[] bytes) {
        CharBuffer text = CharBuffer.allocate(bytes.length);
        CoderResult result = StandardCharsets.UTF_8.newDecoder().decode(ByteBuffer.wrap(bytes), text, true);
        text.flip();
        if (result.isError()) {
            long lines = text.chars().filter(c -> c == '\n').count();
            throw error(file, (int) lines + 1, "is not UTF-8; save the file as UTF-8");
        }
        return text;
    }

    private static List<String> split(CharBuffer text) {
        List<String> lines = new ArrayList<>();
        int start = 0;
        for (int i = 0; i < text.length(); i++) {
            if (text.charAt(i) == '\n') {
                lines.add(line(text, start, i));
                start = i + 1;
            }
        }
        if (start < text.length()) {
            lines.add(line(text, start, text.length()));
        }
        return lines;
    }

    private static String line(CharBuffer text, int start, int end) {
        int last = end > start && text.charAt(end - 1) == '\r' ? end - 1 : end;
        return text.subSequence(start, last).toString();
    }
}
