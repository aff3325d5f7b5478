// SPDX-License-Identifier: Apache-2.0
package io.smqtt.access;

import io.smqtt.message.ReasonCode;
import io.smqtt.spi.AuthenticationRequest;
import io.smqtt.spi.EnhancedAuthenticator;
import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.security.SecureRandom;
import java.util.Arrays;
import java.util.Base64;
import java.util.Set;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import reactor.core.publisher.Mono;

/**
 * SCRAM-SHA-256 without channel binding (RFC 5802, RFC 7677): client and broker prove to each other that they know the password, which is
 * never sent. Its users have a {@code $scram-sha-256$} hash in the password file. The client does the costly computation; the broker's part
 * takes a few hashes and stays on the event loop.
 *
 * <p>For an unknown user the exchange continues with a salt that is derived from the name, the same each time while the process runs, and
 * fails at the end as with a wrong password.
 */
final class ScramSha256Authenticator implements EnhancedAuthenticator {

    private static final int NONCE_BYTES = 18;
    private static final Mono<Step> REFUSED = Mono.just(new Step.Failure(ReasonCode.BAD_USER_NAME_OR_PASSWORD));
    private static final Mono<Step> MALFORMED = Mono.just(new Step.Failure(ReasonCode.PROTOCOL_ERROR));

    private final Supplier<PasswordTable> users;
    private final Supplier<String> nonces;
    private final byte[] secret;

    ScramSha256Authenticator(Supplier<PasswordTable> users) {
        this(users, nonces(KeyedHash.random()));
    }

    ScramSha256Authenticator(Supplier<PasswordTable> users, Supplier<String> nonces) {
        this.users = users;
        this.nonces = nonces;
        secret = KeyedHash.randomBytes(KeyedHash.random(), 32);
    }

    @Override
    public String method() {
        return "SCRAM-SHA-256";
    }

    @Override
    public Exchange begin(AuthenticationRequest request) {
        return new ScramExchange(request.userName());
    }

    private static Supplier<String> nonces(SecureRandom random) {
        return () -> Base64.getEncoder().encodeToString(KeyedHash.randomBytes(random, NONCE_BYTES));
    }

    /** Fake credentials: iterations and salt look like those of a user, the keys match no password. */
    private PasswordHash.ScramSha256 fake(PasswordTable table, String userName) {
        PasswordHash.ScramSha256 model = table.scramStandIn(userName, secret);
        byte[] salt = KeyedHash.hmac(KeyedHash.HMAC_SHA_512, secret, userName.getBytes(StandardCharsets.UTF_8));
        byte[] key = KeyedHash.hmac(KeyedHash.HMAC_SHA_256, secret, salt);
        return new PasswordHash.ScramSha256(model.iterations(), Arrays.copyOf(salt, model.salt().length), key, key);
    }

    private final class ScramExchange implements Exchange {

        private final @Nullable String connectUserName;
        private @Nullable Challenged challenged;
        private boolean ended;

        private ScramExchange(@Nullable String connectUserName) {
            this.connectUserName = connectUserName;
        }

        @Override
        public Mono<Step> next(byte @Nullable [] data) {
            if (ended) {
                return MALFORMED;
            }
            Challenged before = challenged;
            if (before == null) {
                return challenge(ScramClientMessage.first(data));
            }
            ended = true;
            ScramClientMessage.Final last = ScramClientMessage.last(data);
            return last == null ? MALFORMED : verify(before, last);
        }

        private Mono<Step> challenge(ScramClientMessage.@Nullable First first) {
            String userName = first == null ? null : Saslprep.prepare(first.userName());
            if (first == null || userName == null) {
                ended = true;
                return MALFORMED;
            }
            if (connectUserName != null && !connectUserName.equals(userName)) {
                ended = true;
                return REFUSED;
            }
            PasswordTable table = users.get();
            PasswordHash.ScramSha256 fake = fake(table, userName);
            PasswordHash.ScramSha256 credentials =
                    table.find(userName) instanceof PasswordHash.ScramSha256 own ? own : fake;
            String nonce = first.nonce() + nonces.get();
            String message = "r=" + nonce + ",s=" + Base64.getEncoder().encodeToString(credentials.salt()) + ",i="
                    + credentials.iterations();
            challenged = new Challenged(userName, credentials, first.header(), nonce, first.bare() + ',' + message);
            return Mono.just(new Step.Challenge(message.getBytes(StandardCharsets.UTF_8)));
        }

        private Mono<Step> verify(Challenged before, ScramClientMessage.Final last) {
            byte[] header = before.header.getBytes(StandardCharsets.UTF_8);
            if (!last.nonce().equals(before.nonce)
                    || !last.channelBinding().equals(Base64.getEncoder().encodeToString(header))) {
                return REFUSED;
            }
            PasswordHash.ScramSha256 credentials = before.credentials;
            String proven = before.messages + ',' + last.withoutProof();
            byte[] signature = KeyedHash.hmacSha256(credentials.storedKey(), proven);
            if (!proves(last.proof(), signature, credentials) || !isStillValid(before)) {
                return REFUSED;
            }
            String answer =
                    "v=" + Base64.getEncoder().encodeToString(KeyedHash.hmacSha256(credentials.serverKey(), proven));
            return Mono.just(new Step.Success(before.userName, Set.of(), answer.getBytes(StandardCharsets.UTF_8)));
        }

        private boolean proves(String proof, byte[] signature, PasswordHash.ScramSha256 credentials) {
            byte[] clientKey = decode(proof);
            if (clientKey.length != signature.length) {
                return false;
            }
            for (int i = 0; i < clientKey.length; i++) {
                clientKey[i] ^= signature[i];
            }
            return MessageDigest.isEqual(credentials.storedKey(), KeyedHash.sha256(clientKey));
        }

        private byte[] decode(String base64) {
            try {
                return Base64.getDecoder().decode(base64);
            } catch (IllegalArgumentException e) {
                return new byte[0];
            }
        }

        /** Whether the credentials are still in force. A reload during the exchange must not accept a removed user. */
        private boolean isStillValid(Challenged before) {
            PasswordHash current = users.get().find(before.userName);
            return current != null && current.encoded().equals(before.credentials.encoded());
        }
    }

    /** The state of an exchange after the challenge of the broker. */
    private record Challenged(
            String userName, PasswordHash.ScramSha256 credentials, String header, String nonce, String messages) {}
}
