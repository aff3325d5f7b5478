// SPDX-License-Identifier: Apache-2.0
package io.smqtt.access;

import io.smqtt.spi.Authentication;
import io.smqtt.spi.AuthenticationRequest;
import io.smqtt.spi.Authenticator;
import reactor.core.publisher.Mono;

/**
 * Accepts users whose name the listener took from a verified client certificate. Refuses names with + or #, which would be wildcards in
 * access rules, and names with control characters.
 */
final class CertificateAuthenticator implements Authenticator {

    private static final Mono<Authentication> CONTINUE = Authentication.CONTINUE.now();

    @Override
    public Mono<Authentication> authenticate(AuthenticationRequest request) {
        String userName = request.userName();
        if (!request.userNameFromCertificate() || userName == null) {
            return CONTINUE;
        }
        return (isUsable(userName) ? Authentication.accepted(userName) : Authentication.refused()).now();
    }

    private static boolean isUsable(String userName) {
        for (int i = 0; i < userName.length(); i++) {
            char c = userName.charAt(i);
            if (c == '+' || c == '#' || Character.isISOControl(c)) {
                return false;
            }
        }
        return !userName.isEmpty();
    }
}
