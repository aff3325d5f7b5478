// SPDX-License-Identifier: Apache-2.0
package io.smqtt.rules.source.http;

import io.netty.handler.codec.http.HttpHeaders;
import io.smqtt.thread.AnyThread;
import java.nio.charset.StandardCharsets;
import java.security.GeneralSecurityException;
import java.security.MessageDigest;
import java.util.HexFormat;
import java.util.function.LongSupplier;
import javax.crypto.Mac;
import javax.crypto.spec.SecretKeySpec;
import org.jspecify.annotations.Nullable;

/**
 * Checks signatures of requests, as the sink {@code http} makes them: HMAC-SHA256 with a common secret over the time in seconds, a dot, and the
 * body. A signature is valid for five minutes, so a request can be repeated meanwhile.
 */
@AnyThread
final class SignatureCheck {

    static final String TIMESTAMP = "x-smqtt-timestamp";
    static final String SIGNATURE = "x-smqtt-signature";
    private static final String ALGORITHM = "HmacSHA256";
    private static final String PREFIX = "sha256=";
    private static final long VALID_SECONDS = 300;
    private static final int HEX_DIGITS = 64;
    private static final int MOST_DIGITS = 15;

    private final SecretKeySpec key;
    private final LongSupplier epochSeconds;

    /**
     * Creates the check.
     *
     * @param epochSeconds the time in seconds since 1970
     */
    SignatureCheck(String secret, LongSupplier epochSeconds) {
        this.key = new SecretKeySpec(secret.getBytes(StandardCharsets.UTF_8), ALGORITHM);
        this.epochSeconds = epochSeconds;
    }

    /** Whether the headers are those of a signed request of these minutes, before its body is there. */
    boolean isPossible(HttpHeaders headers) {
        String time = headers.get(TIMESTAMP);
        String signature = headers.get(SIGNATURE);
        return time != null
                && signature != null
                && signature.length() == PREFIX.length() + HEX_DIGITS
                && signature.startsWith(PREFIX)
                && isRecent(time);
    }

    boolean isValid(HttpHeaders headers, byte[] body) {
        String time = headers.get(TIMESTAMP);
        String signature = headers.get(SIGNATURE);
        return time != null
                && signature != null
                && isRecent(time)
                && MessageDigest.isEqual(signature.getBytes(StandardCharsets.UTF_8), expected(time, body));
    }

    private boolean isRecent(String time) {
        Long given = number(time);
        return given != null && Math.abs(epochSeconds.getAsLong() - given) <= VALID_SECONDS;
    }

    private static @Nullable Long number(String text) {
        boolean digits = !text.isEmpty()
                && text.length() <= MOST_DIGITS
                && text.chars().allMatch(character -> character >= '0' && character <= '9');
        return digits ? Long.valueOf(text) : null;
    }

    private byte[] expected(String time, byte[] body) {
        try {
            Mac mac = Mac.getInstance(ALGORITHM);
            mac.init(key);
            mac.update((time + ".").getBytes(StandardCharsets.US_ASCII));
            return (PREFIX + HexFormat.of().formatHex(mac.doFinal(body))).getBytes(StandardCharsets.US_ASCII);
        } catch (GeneralSecurityException e) {
            throw new IllegalStateException("each JDK has " + ALGORITHM, e);
        }
    }
}
