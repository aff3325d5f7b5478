// SPDX-License-Identifier: Apache-2.0
package io.smqtt.test.wire;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HexFormat;
import java.util.List;
import java.util.Locale;

/**
 * A recording of the packets between a client and a broker on one connection, in both directions and with their times. As a
 * file it is a text that can be read, changed and compared by hand:
 *
 * <pre>
 * smqtt session 1
 * 0.000000 > 101000044d515454…  # CONNECT
 * 0.001204 &lt; 20020000           # CONNACK
 * 0.250113 > end
 * </pre>
 *
 * <p>The first line names the format and its version. Each other line is a packet: seconds since the connection began, the sender
 * ({@code >} the client, {@code <} the broker) and the bytes of the whole packet in hexadecimal, or {@code end} where the sender ended
 * the connection. What follows {@code #} is a comment, and so are empty lines. Times do not decrease.
 *
 * @param entries what passed, in the order in which it was seen
 */
public record SessionRecording(List<Entry> entries) {

    private static final String FORMAT = "smqtt session 1";
    private static final String END = "end";
    private static final double MICROS = 1e6;

    /** Copies the entries. */
    public SessionRecording {
        entries = List.copyOf(entries);
    }

    /**
     * A packet, or the end of the connection.
     *
     * @param at since the connection began
     * @param sender who sent it
     * @param bytes the whole packet; empty for the end of the connection
     */
    public record Entry(Duration at, Side sender, byte[] bytes) {

        /**
         * Tells whether the connection ended.
         *
         * @return false for a packet
         */
        public boolean isEnd() {
            return bytes.length == 0;
        }
    }

    /**
     * Reads a file.
     *
     * @param file in the format of this class
     * @return the recording
     * @throws IOException if it cannot be read
     * @throws IllegalArgumentException if it is not in the format, with the line
     */
    public static SessionRecording read(Path file) throws IOException {
        return parse(Files.readString(file));
    }

    /**
     * Reads a text.
     *
     * @param text in the format of this class
     * @return the recording
     * @throws IllegalArgumentException if it is not in the format, with the line
     */
    public static SessionRecording parse(String text) {
        String[] lines = text.split("\\R", -1);
        if (!lines[0].strip().equals(FORMAT)) {
            throw new IllegalArgumentException("line 1: '" + FORMAT + "' was expected");
        }
        List<Entry> entries = new ArrayList<>();
        Duration before = Duration.ZERO;
        for (int i = 1; i < lines.length; i++) {
            String line = lines[i].split("#", 2)[0].strip();
            if (!line.isEmpty()) {
                Entry entry = parse(line, i + 1);
                if (entry.at().compareTo(before) < 0) {
                    throw new IllegalArgumentException("line " + (i + 1) + ": time goes back");
                }
                before = entry.at();
                entries.add(entry);
            }
        }
        return new SessionRecording(entries);
    }

    private static Entry parse(String line, int number) {
        String[] words = line.split("\\s+", -1);
        try {
            if (words.length == 3 && words[1].length() == 1) {
                for (Side side : Side.values()) {
                    if (side.sign() == words[1].charAt(0)) {
                        byte[] bytes = words[2].equals(END)
                                ? new byte[0]
                                : HexFormat.of().parseHex(words[2]);
                        return new Entry(
                                Duration.ofNanos(1_000 * Math.round(Double.parseDouble(words[0]) * MICROS)),
                                side,
                                bytes);
                    }
                }
            }
        } catch (IllegalArgumentException e) {
            throw new IllegalArgumentException("line " + number + ": " + e.getMessage(), e);
        }
        throw new IllegalArgumentException("line " + number + ": seconds, > or <, and bytes were expected");
    }

    /**
     * Writes a file; one that is there is replaced.
     *
     * @param file where
     * @throws IOException if it cannot be written
     */
    public void write(Path file) throws IOException {
        Files.writeString(file, toText());
    }

    /**
     * Writes a text, which {@link #parse} reads.
     *
     * @return in the format of this class, with the packet types as comments
     */
    public String toText() {
        StringBuilder text = new StringBuilder(FORMAT).append('\n');
        boolean v5 = false;
        for (Entry entry : entries) {
            v5 |= WirePacket.isConnectOfV5(entry.bytes());
            text.append(String.format(Locale.ROOT, "%.6f ", entry.at().toNanos() / 1e9))
                    .append(entry.sender().sign())
                    .append(' ');
            if (entry.isEnd()) {
                text.append(END);
            } else {
                WirePacket packet = new WirePacket(entry.bytes(), v5);
                text.append(HexFormat.of().formatHex(entry.bytes()))
                        .append("  # ")
                        .append(packet.type())
                        .append(packet.topic().isEmpty() ? "" : " " + printable(packet.topic()));
            }
            text.append('\n');
        }
        return text.toString();
    }

    private static String printable(String text) {
        return text.replaceAll("\\p{Cntrl}", "?");
    }

    /**
     * The packets of one side.
     *
     * @param sender which side
     * @return in their order, without the end of the connection
     */
    public List<WirePacket> packetsOf(Side sender) {
        boolean v5 = entries.stream().anyMatch(entry -> WirePacket.isConnectOfV5(entry.bytes()));
        return entries.stream()
                .filter(entry -> entry.sender() == sender && !entry.isEnd())
                .map(entry -> new WirePacket(entry.bytes(), v5))
                .toList();
    }
}
