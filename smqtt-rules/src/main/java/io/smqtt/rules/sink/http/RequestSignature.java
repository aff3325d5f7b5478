// SPDX-License-Identifier: Apache-2.0
package io.smqtt.rules.sink.http;

import io.smqtt.thread.AnyThread;
import java.nio.charset.StandardCharsets;
import java.security.GeneralSecurityException;
import java.util.HexFormat;
import java.util.Map;
import javax.crypto.Mac;
import javax.crypto.spec.SecretKeySpec;

/**
 * The signature of a request: HMAC-SHA256 with a common secret over the time in seconds, a dot, and the body as it is sent. The receiver rejects
 * requests with another signature, and those whose time is long ago.
 */
@AnyThread
final class RequestSignature {

    private static final String ALGORITHM = "HmacSHA256";

    private final SecretKeySpec key;

    RequestSignature(String secret) {
        key = new SecretKeySpec(secret.getBytes(StandardCharsets.UTF_8), ALGORITHM);
    }

    /** The headers of a request. */
    Map<String, String> headers(long epochSeconds, byte[] body) {
        try {
            Mac mac = Mac.getInstance(ALGORITHM);
            mac.init(key);
            mac.update((epochSeconds + ".").getBytes(StandardCharsets.US_ASCII));
            String signature = HexFormat.of().formatHex(mac.doFinal(body));
            return Map.of("x-smqtt-timestamp", Long.toString(epochSeconds), "x-smqtt-signature", "sha256=" + signature);
        } catch (GeneralSecurityException e) {
            throw new IllegalStateException("each JDK has " + ALGORITHM, e);
        }
    }
}
