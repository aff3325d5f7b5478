// SPDX-License-Identifier: Apache-2.0
package io.smqtt.access.redis;

import java.io.BufferedInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicInteger;

/** A server that speaks enough of Redis' protocol, and notes the arguments of each command. */
final class FakeRedis implements AutoCloseable {

    private static final Set<String> HANDSHAKE = Set.of("AUTH", "CLIENT", "SELECT");

    private final ServerSocket server;
    private final Map<String, Object> values = new ConcurrentHashMap<>();
    private final List<List<String>> commands = Collections.synchronizedList(new ArrayList<>());
    private final AtomicInteger connections = new AtomicInteger();
    private final Set<Socket> sockets = ConcurrentHashMap.newKeySet();
    private volatile boolean silent;
    private volatile boolean mute;
    private volatile List<String> credentials = List.of();

    FakeRedis() throws IOException {
        server = new ServerSocket(0, 50, InetAddress.getLoopbackAddress());
        thread(this::accept);
    }

    private static void thread(Runnable task) {
        Thread thread = new Thread(task, "fake redis");
        thread.setDaemon(true);
        thread.start();
    }

    /** Puts a text, a {@link Map} or a {@link Set} under a key. */
    void put(String key, Object value) {
        values.put(key, value);
    }

    /** Answers no command any more, but for those with which a connection begins. */
    void beSilent(boolean now) {
        silent = now;
    }

    /** Answers nothing at all. */
    void beMute(boolean now) {
        mute = now;
    }

    /** Ends all connections. */
    void dropConnections() throws IOException {
        for (Socket socket : sockets) {
            socket.close();
        }
    }

    List<List<String>> commands() {
        return List.copyOf(commands);
    }

    /** User and password of the last connection. */
    List<String> credentials() {
        return credentials;
    }

    int connections() {
        return connections.get();
    }

    String url() {
        return "redis://127.0.0.1:" + server.getLocalPort();
    }

    private void accept() {
        while (!server.isClosed()) {
            try {
                Socket socket = server.accept();
                connections.incrementAndGet();
                sockets.add(socket);
                thread(() -> serve(socket));
            } catch (IOException e) {
                return;
            }
        }
    }

    private void serve(Socket socket) {
        try (socket) {
            InputStream in = new BufferedInputStream(socket.getInputStream());
            OutputStream out = socket.getOutputStream();
            while (true) {
                List<String> command = read(in);
                String reply = reply(command);
                if (reply != null) {
                    out.write(reply.getBytes(StandardCharsets.UTF_8));
                    out.flush();
                }
            }
        } catch (IOException e) {
            // the client has gone
        }
    }

    private static List<String> read(InputStream in) throws IOException {
        int count = Integer.parseInt(line(in).substring(1));
        List<String> words = new ArrayList<>();
        for (int i = 0; i < count; i++) {
            int length = Integer.parseInt(line(in).substring(1));
            words.add(new String(in.readNBytes(length), StandardCharsets.UTF_8));
            in.readNBytes(2);
        }
        return words;
    }

    private static String line(InputStream in) throws IOException {
        StringBuilder line = new StringBuilder();
        for (int c = in.read(); c != '\r'; c = in.read()) {
            if (c < 0) {
                throw new IOException("end");
            }
            line.append((char) c);
        }
        in.read();
        return line.toString();
    }

    private String reply(List<String> command) {
        String name = command.get(0).toUpperCase(Locale.ROOT);
        if (mute) {
            return null;
        }
        if (name.equals("HELLO")) {
            return "-ERR unknown command\r\n";
        }
        if (name.equals("PING")) {
            return "+PONG\r\n";
        }
        if (name.equals("AUTH")) {
            credentials = command.subList(1, command.size());
        }
        if (HANDSHAKE.contains(name)) {
            return "+OK\r\n";
        }
        commands.add(command);
        return silent ? null : answer(name, command);
    }

    private String answer(String name, List<String> command) {
        Object value = values.get(command.get(1));
        try {
            return switch (name) {
                case "GET" -> bulk((String) value);
                case "HMGET" -> {
                    Map<?, ?> hash = value == null ? Map.of() : (Map<?, ?>) value;
                    yield array(command.subList(2, command.size()).stream()
                            .map(hash::get)
                            .toList());
                }
                case "HGETALL" -> {
                    List<Object> parts = new ArrayList<>();
                    ((Map<?, ?>) (value == null ? Map.of() : value)).forEach((key, part) -> {
                        parts.add(key);
                        parts.add(part);
                    });
                    yield array(parts);
                }
                case "SMEMBERS" -> array(List.copyOf((Set<?>) (value == null ? Set.of() : value)));
                default -> "-ERR unknown command\r\n";
            };
        } catch (ClassCastException e) {
            return "-WRONGTYPE Operation against a key holding the wrong kind of value\r\n";
        }
    }

    private static String array(List<?> parts) {
        StringBuilder text = new StringBuilder("*" + parts.size() + "\r\n");
        parts.forEach(part -> text.append(bulk((String) part)));
        return text.toString();
    }

    private static String bulk(String text) {
        return text == null ? "$-1\r\n" : "$" + text.getBytes(StandardCharsets.UTF_8).length + "\r\n" + text + "\r\n";
    }

    @Override
    public void close() throws IOException {
        server.close();
    }
}
