// SPDX-License-Identifier: Apache-2.0
package io.smqtt.it;

import java.io.BufferedReader;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;

/**
 * What a process asked of the kernel, as {@code strace} writes it down: which descriptor, which bytes, and between which
 * other calls it began and ended. A thread is held at both ends of a call until its line is written, so that the lines
 * are in the order of cause and effect.
 */
final class SystemCalls {

    private static final Pattern BEGIN =
            Pattern.compile("^(\\d+) +(\\w+)\\(\\d+<(.*?)>(?=[,) ])(.*)$"); // thread, name, descriptor, the rest
    private static final Pattern END = Pattern.compile("^(\\d+) +<\\.\\.\\. (\\w+) resumed>(.*)$");
    private static final Pattern TEXT = Pattern.compile("\"((?:\\\\x[0-9a-f]{2})*)\"(\\.\\.\\.)?");
    private static final Pattern RESULT = Pattern.compile("\\) += (-?\\d+)");
    private static final String SOCKET = "TCP";
    private static final String INJECTED = "(INJECTED)";

    private SystemCalls() {}

    /**
     * The command that writes the calls down and becomes the one behind it.
     *
     * @param file takes the lines
     * @param options more options, such as faults
     */
    static List<String> tracing(Path file, String... options) {
        return Stream.concat(
                        Stream.of(
                                ForeignProgram.path("strace"),
                                "-D",
                                "-f",
                                "--seccomp-bpf",
                                "-yy",
                                "-xx",
                                "-s",
                                "2000000"),
                        Stream.concat(
                                Stream.of(options),
                                Stream.of(
                                        "-e",
                                        "trace=fdatasync,fsync,write,pwrite64,writev,sendto,sendmsg",
                                        "-o",
                                        file.toString())))
                .toList();
    }

    /** Reads all calls that have a descriptor, in the order in which they ended. */
    static List<Call> read(Path file) {
        List<Call> calls = new ArrayList<>();
        Map<String, Pending> pending = new HashMap<>();
        int line = 0;
        try (BufferedReader lines = Files.newBufferedReader(file, StandardCharsets.ISO_8859_1)) {
            for (String text = lines.readLine(); text != null; text = lines.readLine()) {
                line++;
                Matcher end = END.matcher(text);
                Matcher begin = BEGIN.matcher(text);
                if (end.matches()) {
                    Pending first = pending.remove(end.group(1));
                    if (first != null && first.name.equals(end.group(2))) {
                        calls.add(first.ended(line, end.group(3)));
                    }
                } else if (begin.matches()) {
                    Pending first = new Pending(line, begin.group(2), plain(begin.group(3)), begin.group(4));
                    if (text.endsWith("<unfinished ...>")) {
                        pending.put(begin.group(1), first);
                    } else {
                        calls.add(first.ended(line, begin.group(4)));
                    }
                }
            }
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
        return calls;
    }

    private static String plain(String descriptor) {
        return descriptor.startsWith("\\x")
                ? new String(bytes('"' + descriptor + '"'), StandardCharsets.UTF_8)
                : descriptor;
    }

    private static byte[] bytes(String arguments) {
        ByteArrayOutputStream bytes = new ByteArrayOutputStream();
        Matcher matcher = TEXT.matcher(arguments);
        while (matcher.find()) {
            String hex = matcher.group(1);
            for (int i = 2; i < hex.length(); i += 4) {
                bytes.write(Integer.parseInt(hex, i, i + 2, 16));
            }
            if (matcher.group(2) != null) {
                throw new IllegalStateException("strace has cut what was written");
            }
        }
        return bytes.toByteArray();
    }

    private record Pending(int line, String name, String target, String arguments) {

        Call ended(int endLine, String rest) {
            Matcher result = RESULT.matcher(rest);
            long value = result.find() ? Long.parseLong(result.group(1)) : -1;
            boolean matters = target.endsWith(".log") || target.startsWith(SOCKET);
            byte[] data = matters && !name.endsWith("sync") ? bytes(arguments) : new byte[0];
            return new Call(line, endLine, name, target, data, value, rest.contains(INJECTED));
        }
    }

    /**
     * A call.
     *
     * @param begin counts up; the place where it began
     * @param end the place where it ended, not before its begin
     * @param name such as {@code write}
     * @param target path of the file or ends of the connection
     * @param data what was to be written to a log or a connection; empty for others
     * @param result what it returned, -1 for an error
     * @param injected whether the error is a made one
     */
    record Call(int begin, int end, String name, String target, byte[] data, long result, boolean injected) {

        boolean isSync() {
            return name.endsWith("sync");
        }

        boolean isToSocket() {
            return target.startsWith(SOCKET);
        }
    }
}
