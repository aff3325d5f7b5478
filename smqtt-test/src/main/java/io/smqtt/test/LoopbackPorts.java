// SPDX-License-Identifier: Apache-2.0
package io.smqtt.test;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Collections;
import java.util.Deque;
import java.util.List;
import java.util.Random;
import java.util.Scanner;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;

/**
 * Free TCP ports of the loopback address for processes that cannot choose one themselves: proxies, and nodes of a cluster, which must
 * know each other's port before any of them has started. Where a process can choose, port 0 is better.
 *
 * <p>A port that the system chose may be gone when the process binds it, or binds it again after a restart: any connection of this
 * machine may have got it as its own end, and even a connection of one node to the port of another that is not there yet may. Ports
 * handed out here are below those that the system gives to connections. None is handed out twice, neither by one JVM nor by several that run at the
 * same time: a JVM takes its ports from blocks of {@value #BLOCK}, and listens on the first port of each of its blocks until it ends. Thread-safe.
 */
public final class LoopbackPorts {

    private static final Path SYSTEMS_RANGE = Path.of("/proc/sys/net/ipv4/ip_local_port_range");
    private static final int USUAL_FIRST_OF_SYSTEM = 32_768;
    private static final int FIRST = 10_000; // what is well known is below, as a rule
    private static final int FEWEST = 5_000;
    private static final int BLOCK = 100;

    private static final Random RANDOM = new Random();

    /** Held by this JVM until it ends, one for each of its blocks. */
    private static final List<ServerSocket> GUARDS = new ArrayList<>();

    /** Ports of these blocks that were not handed out yet. */
    private static final Deque<Integer> LEFT = new ArrayDeque<>();

    private LoopbackPorts() {}

    /**
     * Chooses a port.
     *
     * @return a port that is free now
     * @throws IllegalStateException if none can be found
     */
    public static int one() {
        return choose();
    }

    /**
     * Chooses several ports.
     *
     * @param count how many, at least 0
     * @return as many different ports, each of them free now
     * @throws IllegalStateException if they cannot be found
     */
    public static List<Integer> some(int count) {
        return IntStream.range(0, count).mapToObj(i -> one()).toList();
    }

    private static synchronized int choose() {
        while (true) {
            for (Integer port = LEFT.poll(); port != null; port = LEFT.poll()) {
                if (isFree(port)) {
                    return port;
                }
            }
            takeBlock();
        }
    }

    /** Takes a block that no other JVM has. */
    private static void takeBlock() {
        int end = firstOfSystem();
        int blocks = (end - FIRST) / BLOCK;
        int any = RANDOM.nextInt(blocks);
        for (int i = 0; i < blocks; i++) {
            int first = FIRST + (any + i) % blocks * BLOCK;
            ServerSocket guard = listen(first);
            if (guard != null) {
                GUARDS.add(guard);
                List<Integer> ports = new ArrayList<>(
                        IntStream.range(first + 1, first + BLOCK).boxed().toList());
                Collections.shuffle(ports, RANDOM); // neighbours are of different tests
                LEFT.addAll(ports);
                return;
            }
        }
        throw new IllegalStateException(
                "no free block of " + BLOCK + " ports of the loopback address from " + FIRST + " to " + (end - 1));
    }

    private static @Nullable ServerSocket listen(int port) {
        try {
            return new ServerSocket(port, 1, InetAddress.getLoopbackAddress());
        } catch (IOException e) { // another JVM, or another program, has it
            return null;
        }
    }

    private static boolean isFree(int port) {
        try (Socket socket = new Socket()) { // does not listen
            socket.bind(new InetSocketAddress(port)); // all addresses, since this machine has many of its own
            return true;
        } catch (IOException e) { // another program has it
            return false;
        }
    }

    /** The first port that connections get from the system; where nearly all are the system's, the usual one. */
    private static int firstOfSystem() {
        if (!Files.isReadable(SYSTEMS_RANGE)) {
            return USUAL_FIRST_OF_SYSTEM;
        }
        try (Scanner range = new Scanner(SYSTEMS_RANGE, StandardCharsets.US_ASCII)) {
            int first = range.nextInt();
            return first < FIRST + FEWEST ? USUAL_FIRST_OF_SYSTEM : Math.min(first, USUAL_FIRST_OF_SYSTEM);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }
}
