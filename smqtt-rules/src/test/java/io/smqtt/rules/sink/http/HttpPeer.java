// SPDX-License-Identifier: Apache-2.0
package io.smqtt.rules.sink.http;

import com.sun.net.httpserver.Headers;
import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpServer;
import java.io.IOException;
import java.io.InputStream;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.zip.GZIPInputStream;

/** An HTTP server that keeps what it gets. */
final class HttpPeer implements AutoCloseable {

    /** A request. */
    record Got(String method, String uri, Headers headers, byte[] raw, String body) {}

    final List<Got> requests = new CopyOnWriteArrayList<>();
    /** The size of a body that is as good as endless. */
    static final long MOST_BODY_BYTES = 256L << 20;

    private final HttpServer server;
    private final ExecutorService threads = Executors.newCachedThreadPool();
    private volatile int status = 200;
    private volatile boolean endless;
    volatile long bodyBytes;
    private volatile CountDownLatch hanging = new CountDownLatch(0);

    HttpPeer() throws IOException {
        server = HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
        server.setExecutor(threads);
        server.createContext("/", this::answer);
        server.start();
    }

    private void answer(HttpExchange exchange) throws IOException {
        try (exchange;
                InputStream in = exchange.getRequestBody()) {
            byte[] raw = in.readAllBytes();
            boolean zipped = "gzip".equals(exchange.getRequestHeaders().getFirst("content-encoding"));
            byte[] plain = zipped ? new GZIPInputStream(new java.io.ByteArrayInputStream(raw)).readAllBytes() : raw;
            hanging.await();
            boolean head = exchange.getRequestMethod().equals("HEAD");
            if (!head) {
                requests.add(new Got(
                        exchange.getRequestMethod(),
                        exchange.getRequestURI().toString(),
                        exchange.getRequestHeaders(),
                        raw,
                        new String(plain, java.nio.charset.StandardCharsets.UTF_8)));
            }
            if (endless && !head) {
                exchange.sendResponseHeaders(status, 0);
                for (byte[] part = new byte[8_192]; bodyBytes < MOST_BODY_BYTES; bodyBytes += part.length) {
                    exchange.getResponseBody().write(part);
                }
                return;
            }
            byte[] text = "no: because".getBytes(java.nio.charset.StandardCharsets.UTF_8);
            boolean fails = status >= 400 && !head;
            exchange.sendResponseHeaders(status, fails ? text.length : -1);
            if (fails) {
                exchange.getResponseBody().write(text);
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    String url() {
        return "http://127.0.0.1:" + server.getAddress().getPort();
    }

    void status(int answer) {
        status = answer;
    }

    void endless() {
        endless = true;
    }

    void hang() {
        hanging = new CountDownLatch(1);
    }

    void answerAgain() {
        hanging.countDown();
    }

    @Override
    public void close() {
        hanging.countDown();
        server.stop(0);
        threads.shutdownNow();
    }
}
