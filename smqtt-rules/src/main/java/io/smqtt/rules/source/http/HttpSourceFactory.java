// SPDX-License-Identifier: Apache-2.0
package io.smqtt.rules.source.http;

import io.smqtt.rules.sink.SinkSetting;
import io.smqtt.rules.sink.Source;
import io.smqtt.rules.sink.SourceContext;
import io.smqtt.rules.sink.SourceFactory;
import java.util.List;

/** Makes sources of the type {@code http}, whose POST requests become messages. */
public final class HttpSourceFactory implements SourceFactory {

    static final String HOST = "host";
    static final String PORT = "port";
    static final String PATH = "path";
    static final String TOKEN = "token-file";
    static final String SIGNATURE = "signature-secret-file";
    static final String CERTIFICATE = "certificate";
    static final String PRIVATE_KEY = "private-key";
    static final String MAX_BODY = "max-body";
    static final String MAX_MEMORY = "max-memory";
    static final String MAX_CONNECTIONS = "max-connections";
    static final String TIMEOUT = "timeout";

    /** Creates the factory, for {@link java.util.ServiceLoader}. */
    public HttpSourceFactory() {}

    @Override
    public String type() {
        return "http";
    }

    @Override
    public List<SinkSetting> settings() {
        return List.of(
                SinkSetting.text(
                        HOST,
                        "127.0.0.1",
                        "the address that the listener is bound to; another one needs a token or a signature"),
                SinkSetting.number(PORT, 8090, 0, 65_535, "the port; 0 for any that is free"),
                SinkSetting.text(PATH, "/", "the beginning of the paths that are served"),
                SinkSetting.file(
                        TOKEN,
                        "a file whose first line must be in each request, as `Authorization: Bearer …`; without it every peer that reaches the port may send"),
                SinkSetting.file(
                        SIGNATURE,
                        "a file whose first line is the secret of the signature that each request must have, as the sink `http` makes it; it is valid for five minutes, and for the body alone"),
                SinkSetting.file(CERTIFICATE, "the certificate chain for HTTPS, in PEM"),
                SinkSetting.file(PRIVATE_KEY, "its private key, in PEM (PKCS #8, not encrypted)"),
                SinkSetting.size(
                        MAX_BODY, "1MiB", "1", "64MiB", "maximum size of a body; larger ones are answered with 413"),
                SinkSetting.size(
                        MAX_MEMORY,
                        "64MiB",
                        "1",
                        "16GiB",
                        "maximum size of all bodies that have arrived and are not yet stored; more are answered with 503"),
                SinkSetting.number(
                        MAX_CONNECTIONS, 1_000, 1, 100_000, "maximum number of connections; more are closed at once"),
                SinkSetting.duration(
                        TIMEOUT,
                        "30s",
                        "100ms",
                        "10m",
                        "the longest time in which a body arrives, and for which a connection is kept without a request"));
    }

    @Override
    public Source open(SourceContext context) {
        return new HttpSource(context);
    }
}
