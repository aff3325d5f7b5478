// SPDX-License-Identifier: Apache-2.0
package io.smqtt.it;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.nio.ByteBuffer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.TimeUnit;

/** Records all frames of network interfaces by a script. Needs root and {@code python3}. */
final class Capture implements AutoCloseable {

    private static final int ETHERNET_BYTES = 14;
    private static final int IPV4 = 0x0800;
    private static final int TCP = 6;

    private final Path file;
    private final Process process;

    /**
     * One direction of a TCP connection.
     *
     * @param from address and port of the sender
     * @param to address and port of the receiver
     */
    record Direction(String from, int fromPort, String to, int toPort) {

        Direction reversed() {
            return new Direction(to, toPort, from, fromPort);
        }
    }

    /** Starts recording. */
    Capture(Path file, List<String> interfaces) throws IOException {
        this.file = file;
        Path script = file.resolveSibling("capture.py");
        try (var in = Capture.class.getResourceAsStream("/capture.py")) {
            Files.write(script, in.readAllBytes());
        }
        List<String> command = new ArrayList<>(List.of("python3", script.toString(), file.toString()));
        command.addAll(interfaces);
        process = new ProcessBuilder(command)
                .redirectError(ProcessBuilder.Redirect.INHERIT)
                .start();
        if (!"capturing".equals(process.inputReader().readLine())) {
            throw new IOException("the capture did not start");
        }
    }

    /** Whether there is a Python for the script. */
    static boolean isPossible() {
        try {
            Process python = new ProcessBuilder("python3", "--version").start();
            return python.waitFor(30, TimeUnit.SECONDS) && python.exitValue() == 0;
        } catch (IOException e) {
            return false;
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new IllegalStateException(e);
        }
    }

    /** Ends the recording and returns all frames. A frame that passed two of the interfaces is there twice. */
    List<ByteBuffer> stop() throws IOException, InterruptedException {
        process.getOutputStream().close();
        if (!process.waitFor(30, TimeUnit.SECONDS) || process.exitValue() != 0) {
            throw new IOException("the capture failed");
        }
        List<ByteBuffer> frames = new ArrayList<>();
        ByteBuffer all = ByteBuffer.wrap(Files.readAllBytes(file));
        while (all.hasRemaining()) {
            byte[] frame = new byte[all.getInt()];
            all.get(frame);
            frames.add(ByteBuffer.wrap(frame));
        }
        return frames;
    }

    /**
     * Puts the bytes of TCP connections between some hosts together. Fails if one of the hosts has sent another one anything else but ARP.
     */
    static Map<Direction, byte[]> streams(List<ByteBuffer> frames, List<String> hosts) {
        Map<Direction, TreeMap<Long, byte[]>> parts = new HashMap<>();
        for (ByteBuffer frame : frames) {
            int type = frame.getShort(ETHERNET_BYTES - Short.BYTES) & 0xFFFF;
            if (type != IPV4) {
                continue;
            }
            int ip = ETHERNET_BYTES;
            String from = address(frame, ip + 12);
            String to = address(frame, ip + 16);
            if (!hosts.contains(from) || !hosts.contains(to)) {
                continue;
            }
            if (frame.get(ip + 9) != TCP) {
                throw new AssertionError("protocol " + frame.get(ip + 9) + " from " + from + " to " + to);
            }
            add(parts, frame, ip, from, to);
        }
        Map<Direction, byte[]> streams = new HashMap<>();
        parts.forEach((direction, segments) -> streams.put(direction, joined(segments)));
        return streams;
    }

    private static void add(
            Map<Direction, TreeMap<Long, byte[]>> parts, ByteBuffer frame, int ip, String from, String to) {
        int tcp = ip + (frame.get(ip) & 0xF) * Integer.BYTES;
        int data = tcp + (frame.get(tcp + 12) >> 4 & 0xF) * Integer.BYTES;
        int end = ip + (frame.getShort(ip + 2) & 0xFFFF);
        Direction direction = new Direction(from, frame.getShort(tcp) & 0xFFFF, to, frame.getShort(tcp + 2) & 0xFFFF);
        TreeMap<Long, byte[]> segments = parts.computeIfAbsent(direction, key -> new TreeMap<>());
        if (end > data) {
            byte[] bytes = Arrays.copyOfRange(frame.array(), data, end);
            segments.merge(
                    frame.getInt(tcp + 4) & 0xFFFF_FFFFL,
                    bytes,
                    (one, other) -> one.length < other.length ? other : one);
        }
    }

    private static String address(ByteBuffer frame, int at) {
        try {
            return InetAddress.getByAddress(Arrays.copyOfRange(frame.array(), at, at + 4))
                    .getHostAddress();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /** The bytes in their order, each once; fails if some are missing. */
    private static byte[] joined(TreeMap<Long, byte[]> segments) {
        ByteArrayOutputStream all = new ByteArrayOutputStream();
        long next = segments.isEmpty() ? 0 : segments.firstKey();
        for (Map.Entry<Long, byte[]> segment : segments.entrySet()) {
            byte[] bytes = segment.getValue();
            int known = (int) Math.min(bytes.length, next - segment.getKey());
            if (known < 0) {
                throw new AssertionError("the capture misses " + -known + " bytes");
            }
            all.write(bytes, known, bytes.length - known);
            next += bytes.length - known;
        }
        return all.toByteArray();
    }

    @Override
    public void close() {
        process.destroyForcibly();
    }
}
