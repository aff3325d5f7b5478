// SPDX-License-Identifier: Apache-2.0
package io.smqtt.rules.sink.http;

import io.smqtt.rules.sink.Sink;
import io.smqtt.rules.sink.SinkContext;
import io.smqtt.rules.sink.SinkFactory;
import io.smqtt.rules.sink.SinkSetting;
import java.util.List;

/** Makes sinks of the type {@code http}, which send rows to any HTTP server. */
public final class HttpSinkFactory implements SinkFactory {

    static final String URL = "url";
    static final String METHOD = "method";
    static final String HEADERS = "headers";
    static final String BODY = "body";
    static final String BATCH = "batch";
    static final String GZIP = "gzip";
    static final String SIGNATURE = "signature-secret-file";
    static final String CA = "ca";
    static final String SINGLE = "single";
    static final String ARRAY = "array";
    static final String LINES = "lines";

    /** Creates the factory, for {@link java.util.ServiceLoader}. */
    public HttpSinkFactory() {}

    @Override
    public String type() {
        return "http";
    }

    @Override
    public List<SinkSetting> settings() {
        return List.of(
                SinkSetting.template(
                                URL,
                                null,
                                "the URL, `http://` or `https://`; placeholders after the host only, and only with `batch: single`")
                        .required(),
                SinkSetting.choice(METHOD, "post", List.of("post", "put", "patch"), "`post`, `put` or `patch`"),
                SinkSetting.entries(HEADERS, "headers; the content type is `application/json` without one"),
                SinkSetting.template(
                        BODY,
                        null,
                        "the body of one row; by default the row as JSON. With a content type of JSON, values are written so that the body stays JSON"),
                SinkSetting.choice(
                        BATCH,
                        SINGLE,
                        List.of(SINGLE, ARRAY, LINES),
                        "one request for each row, or for a batch: as a JSON array, or with a line for each row"),
                SinkSetting.flag(GZIP, false, "whether bodies are compressed"),
                SinkSetting.file(
                        SIGNATURE,
                        "a file whose first line is the secret of the signature in `x-smqtt-signature`: HMAC-SHA256, in hex after `sha256=`, of `x-smqtt-timestamp`, a dot and the body"),
                SinkSetting.file(
                        CA, "certificates of the authorities that are trusted, in PEM; without it those of Java"));
    }

    @Override
    public Sink open(SinkContext context) {
        return new HttpSink(context);
    }
}
