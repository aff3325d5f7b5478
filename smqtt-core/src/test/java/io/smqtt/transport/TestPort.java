// SPDX-License-Identifier: Apache-2.0
package io.smqtt.transport;

import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.util.concurrent.ThreadLocalRandom;

/**
 * A free port of the loopback address that no other test gets, in this JVM or another one, until it is closed: its owner listens on the port before
 * it. It is below those that the system gives to connections.
 */
public final class TestPort implements AutoCloseable {

    private static final int FIRST = 9_000;
    private static final int PAIRS = 500;

    private final ServerSocket guard;

    /** Takes a port. */
    public TestPort() throws IOException {
        guard = take();
    }

    private static ServerSocket take() throws IOException {
        int any = ThreadLocalRandom.current().nextInt(PAIRS);
        for (int i = 0; i < PAIRS; i++) {
            int even = FIRST + (any + i) % PAIRS * 2;
            try (ServerSocket free = listen(even + 1)) {
                return listen(free.getLocalPort() - 1);
            } catch (IOException e) {
                // another test, or another program, has one of the two
            }
        }
        throw new IOException("no free port from " + FIRST + " on");
    }

    private static ServerSocket listen(int port) throws IOException {
        return new ServerSocket(port, 1, InetAddress.getByName("127.0.0.1"));
    }

    /** The port, on which nothing listens yet. */
    public int number() {
        return guard.getLocalPort() + 1;
    }

    @Override
    public void close() throws IOException {
        guard.close();
    }
}
