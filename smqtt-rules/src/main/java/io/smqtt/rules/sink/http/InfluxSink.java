// SPDX-License-Identifier: Apache-2.0
package io.smqtt.rules.sink.http;

import static java.nio.charset.StandardCharsets.UTF_8;

import io.netty.handler.codec.http.HttpMethod;
import io.smqtt.rules.sink.BatchResult;
import io.smqtt.rules.sink.BatchResult.Refusal;
import io.smqtt.rules.sink.RowTemplate;
import io.smqtt.rules.sink.Sink;
import io.smqtt.rules.sink.SinkContext;
import io.smqtt.rules.sink.SinkException;
import io.smqtt.rules.sink.SinkRecord;
import io.smqtt.rules.sink.SinkSettings;
import io.smqtt.thread.AnyThread;
import java.net.URLEncoder;
import java.util.ArrayList;
import java.util.Base64;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import reactor.core.publisher.Mono;

/** Writes points to InfluxDB. */
@AnyThread
final class InfluxSink implements Sink {

    private final HttpClientThread client;
    private final LineProtocol points;
    private final String url;
    private final String ping;
    private final boolean gzip;
    private final Map<String, String> headers = new LinkedHashMap<>();

    InfluxSink(SinkContext context) {
        SinkSettings settings = context.settings();
        String server = HttpSink.server(settings, settings.text(InfluxSinkFactory.URL));
        RowTemplate measurement = RowTemplate.parse(settings.text(InfluxSinkFactory.MEASUREMENT));
        points = new LineProtocol(
                measurement,
                settings.templates(InfluxSinkFactory.TAGS),
                settings.templates(InfluxSinkFactory.FIELDS),
                settings.templateOrNull(InfluxSinkFactory.TIME));
        url = server + path(settings);
        ping = server + "ping";
        gzip = settings.flag(InfluxSinkFactory.GZIP);
        headers.put("content-type", "text/plain; charset=utf-8");
        authorize(settings);
        client = new HttpClientThread(context, settings.file(InfluxSinkFactory.CA));
    }

    private static String path(SinkSettings settings) {
        String unit = settings.text(InfluxSinkFactory.PRECISION);
        return switch (settings.text(InfluxSinkFactory.VERSION)) {
            case "v1" ->
                "write?db=" + encoded(settings, InfluxSinkFactory.DATABASE)
                        + "&precision=" + (unit.equals("us") ? "u" : unit)
                        + (settings.has(InfluxSinkFactory.RETENTION)
                                ? "&rp=" + encoded(settings, InfluxSinkFactory.RETENTION)
                                : "");
            case "v3" ->
                "api/v3/write_lp?db=" + encoded(settings, InfluxSinkFactory.DATABASE) + "&precision="
                        + Map.of("s", "second", "ms", "millisecond", "us", "microsecond", "ns", "nanosecond")
                                .get(unit);
            default ->
                "api/v2/write?org=" + encoded(settings, InfluxSinkFactory.ORG) + "&bucket="
                        + encoded(settings, InfluxSinkFactory.BUCKET) + "&precision=" + unit;
        };
    }

    private static String encoded(SinkSettings settings, String key) {
        return URLEncoder.encode(settings.text(key), UTF_8);
    }

    private void authorize(SinkSettings settings) {
        String token = settings.secret(InfluxSinkFactory.TOKEN);
        String user = settings.textOrNull(InfluxSinkFactory.USERNAME);
        if (token != null) {
            boolean bearer = settings.text(InfluxSinkFactory.VERSION).equals("v3");
            headers.put("authorization", (bearer ? "Bearer " : "Token ") + token);
        } else if (user != null) {
            @Nullable String password = settings.secret(InfluxSinkFactory.PASSWORD);
            String pair = user + ':' + (password == null ? "" : password);
            headers.put("authorization", "Basic " + Base64.getEncoder().encodeToString(pair.getBytes(UTF_8)));
        }
    }

    @Override
    public Mono<BatchResult> send(List<SinkRecord> batch) {
        return Mono.defer(() -> {
            List<Refusal> refusals = new ArrayList<>();
            StringBuilder lines = new StringBuilder();
            for (int i = 0; i < batch.size(); i++) {
                try {
                    lines.append(points.line(batch.get(i).row())).append('\n');
                } catch (SinkException e) {
                    refusals.add(new Refusal(i, String.valueOf(e.getMessage()), e.isRecoverable()));
                }
            }
            BatchResult result = refusals.isEmpty() ? BatchResult.DONE : new BatchResult(refusals);
            return lines.isEmpty()
                    ? Mono.just(result)
                    : client.send(request(lines.toString())).thenReturn(result);
        });
    }

    private HttpClientThread.Request request(String lines) {
        byte[] plain = lines.getBytes(UTF_8);
        byte[] body = gzip ? HttpSink.compressed(plain) : plain;
        Map<String, String> all = new LinkedHashMap<>(headers);
        all.put("content-length", Integer.toString(body.length));
        if (gzip) {
            all.put("content-encoding", "gzip");
        }
        return new HttpClientThread.Request(HttpMethod.POST, url, all, body);
    }

    @Override
    public Mono<Void> check() {
        return client.check(ping);
    }

    @Override
    public void close() {
        client.close();
    }
}
