// SPDX-License-Identifier: Apache-2.0
package io.smqtt.access;

import io.smqtt.config.ConfigurationException;
import io.smqtt.config.FileProblem;
import io.smqtt.config.SecretMask;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.CharBuffer;
import java.nio.charset.CoderResult;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** Reads the small text files of this package, whole and as strict UTF-8, and formats their problems. */
final class TextFile {

    private static final long MAXIMUM_BYTES = 64L << 20;
    private static final int SHOWN_CHARACTERS = 64;
    private static final int SHOWN_PROBLEMS = 100;

    private TextFile() {}

    /**
     * The content of a file.
     *
     * @param lines the lines, without line ends
     * @param shape size and end of the file
     */
    record Content(List<String> lines, Shape shape) {}

    /**
     * Size and end of a file, which show whether it is truncated.
     *
     * @param empty whether it contains only blanks
     * @param ended whether its last line has a line end
     */
    record Shape(boolean empty, boolean ended) {

        static final Shape NEW = new Shape(true, true);

        /**
         * The part that a new file has lost compared with this one: everything, or the end of the last line. Null if neither.
         */
        @Nullable
        String lostBy(Shape fresh) {
            if (fresh.empty && !empty) {
                return "is empty, but was not before; is it truncated? To make it empty on purpose, write a "
                        + "comment line";
            }
            return ended && !fresh.ended
                    ? "ends within a line, but did not before; is it truncated? If not, end the last line with a "
                            + "line feed"
                    : null;
        }
    }

    /** Reads a file. The exception for a missing or unreadable file names it. */
    static Content read(Path file) {
        try {
            if (Files.size(file) > MAXIMUM_BYTES) {
                throw new ConfigurationException(file + ": is larger than 64 MiB; is this the right file?");
            }
            CharBuffer text = decode(file, Files.readAllBytes(file));
            boolean empty = text.chars().allMatch(Character::isWhitespace);
            boolean ended = text.length() == 0 || text.charAt(text.length() - 1) == '\n';
            return new Content(split(text), new Shape(empty, ended));
        } catch (IOException e) {
            throw new ConfigurationException(SecretMask.path(file) + ": the file " + FileProblem.reason(file, e));
        }
    }

    /** Parses one line. */
    @FunctionalInterface
    interface LineParser {

        /**
         * Parses a line.
         *
         * @param line the line, without its line end
         * @throws IllegalArgumentException if the line is malformed; with a message that continues a sentence which begins with the line
         */
        void parse(String line);
    }

    /**
     * Parses all lines, so that all malformed lines are reported together.
     *
     * @throws ConfigurationException with file, line and reason of each malformed line, 100 of them at most
     */
    static void parse(Path file, List<String> lines, LineParser parser) {
        List<String> problems = new ArrayList<>();
        int more = 0;
        for (int i = 0; i < lines.size(); i++) {
            try {
                parser.parse(lines.get(i));
            } catch (IllegalArgumentException e) {
                if (problems.size() < SHOWN_PROBLEMS) {
                    problems.add(file + ":" + (i + 1) + ": " + e.getMessage());
                } else {
                    more++;
                }
            }
        }
        if (more > 0) {
            problems.add(file + ": has " + more + " more malformed lines; is this the right file?");
        }
        if (!problems.isEmpty()) {
            throw new ConfigurationException(problems);
        }
    }

    private static ConfigurationException error(Path file, int lineNumber, String problem) {
        return new ConfigurationException(file + ":" + lineNumber + ": " + problem);
    }

    /** Quotes a part of a file for a message: short and without control characters. */
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
