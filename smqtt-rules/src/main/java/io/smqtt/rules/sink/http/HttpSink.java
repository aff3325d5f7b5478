// SPDX-License-Identifier: Apache-2.0
package io.smqtt.rules.sink.http;

import io.netty.handler.codec.http.HttpMethod;
import io.smqtt.config.ConfigurationException;
import io.smqtt.rules.sink.BatchResult;
import io.smqtt.rules.sink.RowTemplate;
import io.smqtt.rules.sink.RowText;
import io.smqtt.rules.sink.Sink;
import io.smqtt.rules.sink.SinkContext;
import io.smqtt.rules.sink.SinkRecord;
import io.smqtt.rules.sink.SinkSettings;
import io.smqtt.thread.AnyThread;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.stream.Collectors;
import java.util.zip.GZIPOutputStream;
import org.jspecify.annotations.Nullable;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;

/** Sends rows to an HTTP server. */
@AnyThread
final class HttpSink implements Sink {

    private static final String CONTENT_TYPE = "content-type";
    private static final String JSON = "application/json";

    private final HttpClientThread client;
    private final RowTemplate url;
    private final String checked;
    private final HttpMethod method;
    private final Map<String, RowTemplate> headers = new LinkedHashMap<>();
    private final @Nullable RowTemplate body;
    private final boolean json;
    private final String batch;
    private final boolean gzip;
    private final @Nullable RequestSignature signature;

    HttpSink(SinkContext context) {
        SinkSettings settings = context.settings();
        url = RowTemplate.parse(settings.text(HttpSinkFactory.URL));
        checked = server(settings, settings.text(HttpSinkFactory.URL));
        method = HttpMethod.valueOf(settings.text(HttpSinkFactory.METHOD).toUpperCase(Locale.ROOT));
        settings.templates(HttpSinkFactory.HEADERS)
                .forEach((name, value) -> headers.put(name.toLowerCase(Locale.ROOT), value));
        RowTemplate type = headers.getOrDefault(CONTENT_TYPE, RowTemplate.parse(JSON));
        headers.put(CONTENT_TYPE, type);
        json = type.text(Map.of()).contains("json");
        body = settings.templateOrNull(HttpSinkFactory.BODY);
        batch = settings.text(HttpSinkFactory.BATCH);
        gzip = settings.flag(HttpSinkFactory.GZIP);
        boolean each = url.isFixed() && headers.values().stream().allMatch(RowTemplate::isFixed);
        if (!isSingle() && !each) {
            throw settings.problem(HttpSinkFactory.BATCH, "must be single, because URL or headers have placeholders");
        }
        String secret = settings.secret(HttpSinkFactory.SIGNATURE);
        signature = secret == null ? null : new RequestSignature(secret);
        client = new HttpClientThread(context, settings.file(HttpSinkFactory.CA));
    }

    /** The URL of the server, to which no message is sent. */
    static String server(SinkSettings settings, String url) {
        int path = url.indexOf('/', Math.max(0, url.indexOf("://")) + 3);
        String server = path < 0 ? url : url.substring(0, path);
        try {
            URI parsed = URI.create(server);
            if (("http".equals(parsed.getScheme()) || "https".equals(parsed.getScheme()))
                    && parsed.getHost() != null
                    && parsed.getUserInfo() == null) {
                return server + '/';
            }
        } catch (IllegalArgumentException e) {
            throw problem(settings);
        }
        throw problem(settings);
    }

    private static ConfigurationException problem(SinkSettings settings) {
        return settings.problem(
                HttpSinkFactory.URL, "must begin with http:// or https:// and a host, without a password in it");
    }

    private boolean isSingle() {
        return batch.equals(HttpSinkFactory.SINGLE);
    }

    /** A row that is a request of its own is a batch of its own: with its own timeout, and not sent again because of a row behind it. */
    @Override
    public int maxBatch() {
        return isSingle() ? 1 : Integer.MAX_VALUE;
    }

    @Override
    public Mono<BatchResult> send(List<SinkRecord> records) {
        return isSingle()
                ? Flux.fromIterable(records).concatMap(this::alone, 1).then(Mono.just(BatchResult.DONE))
                : together(records);
    }

    private Mono<Void> alone(SinkRecord record) {
        return Mono.defer(() -> client.send(request(record.row(), body(record.row()))));
    }

    private Mono<BatchResult> together(List<SinkRecord> records) {
        return Mono.defer(() -> {
            boolean array = batch.equals(HttpSinkFactory.ARRAY);
            String text =
                    records.stream().map(each -> body(each.row())).collect(Collectors.joining(array ? "," : "\n"));
            return client.send(request(Map.of(), array ? '[' + text + ']' : text + '\n'))
                    .thenReturn(BatchResult.DONE);
        });
    }

    private String body(Map<String, @Nullable Object> row) {
        return body == null ? RowText.json(row) : json ? body.json(row) : body.text(row);
    }

    private HttpClientThread.Request request(Map<String, @Nullable Object> row, String text) {
        byte[] plain = text.getBytes(StandardCharsets.UTF_8);
        byte[] bytes = gzip ? compressed(plain) : plain;
        Map<String, String> filled = new LinkedHashMap<>();
        headers.forEach((name, value) -> filled.put(name, oneLine(value.text(row))));
        filled.put("content-length", Integer.toString(bytes.length));
        if (gzip) {
            filled.put("content-encoding", "gzip");
        }
        if (signature != null) {
            filled.putAll(signature.headers(System.currentTimeMillis() / 1_000, bytes));
        }
        return new HttpClientThread.Request(method, url.url(row), filled, bytes);
    }

    /** A value of a message begins no further header. */
    private static String oneLine(String text) {
        StringBuilder line = new StringBuilder(text.length());
        text.chars().forEach(c -> line.append(c < ' ' || c == 0x7F ? ' ' : (char) c));
        return line.toString();
    }

    /** Compresses a body. */
    static byte[] compressed(byte[] plain) {
        ByteArrayOutputStream bytes = new ByteArrayOutputStream(plain.length / 2 + 32);
        try (GZIPOutputStream out = new GZIPOutputStream(bytes)) {
            out.write(plain);
        } catch (IOException e) {
            throw new UncheckedIOException(e); // memory does not fail
        }
        return bytes.toByteArray();
    }

    @Override
    public Mono<Void> check() {
        return client.check(checked);
    }

    @Override
    public void close() {
        client.close();
    }
}
