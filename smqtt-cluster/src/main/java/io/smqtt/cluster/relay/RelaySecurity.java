// SPDX-License-Identifier: Apache-2.0
package io.smqtt.cluster.relay;

import io.netty.channel.ChannelPipeline;
import io.netty.handler.ssl.SslHandshakeCompletionEvent;
import io.smqtt.cluster.jgroups.SharedSecret;
import io.smqtt.config.ClusterConfig;
import io.smqtt.config.ClusterTlsConfig;
import io.smqtt.config.ConfigurationException;
import io.smqtt.thread.AnyThread;
import io.smqtt.transport.MutualTls;
import java.net.InetSocketAddress;
import java.security.GeneralSecurityException;
import org.jspecify.annotations.Nullable;

/**
 * Authenticates both ends of a connection for a relayed client, in the ways in which the nodes authenticate each other: certificates, the
 * secret, or both. Never by nothing.
 */
@AnyThread
final class RelaySecurity {

    private final @Nullable MutualTls tls;
    private final @Nullable SharedSecret secret;

    private RelaySecurity(@Nullable MutualTls tls, @Nullable SharedSecret secret) {
        this.tls = tls;
        this.secret = secret;
    }

    /**
     * Reads certificates and derives the key of the secret. Blocks.
     *
     * @throws ConfigurationException if there is neither, or a file cannot be used
     */
    static RelaySecurity of(ClusterConfig config) {
        ClusterTlsConfig files = config.tls();
        String secret = config.secret();
        if (files == null && secret == null) {
            throw new ConfigurationException("cluster.secret: relayed connections need cluster.secret or cluster.tls");
        }
        try {
            return new RelaySecurity(
                    files == null ? null : MutualTls.of("cluster.tls", files),
                    secret == null ? null : new SharedSecret(secret));
        } catch (GeneralSecurityException e) {
            throw new ConfigurationException("cluster.secret: this JVM cannot use it: " + e.getMessage(), e);
        }
    }

    /**
     * Reads the certificates again. Blocks.
     *
     * @throws ConfigurationException if a file cannot be used; then the old ones stay in use
     */
    void reload() {
        if (tls != null) {
            tls.reload();
        }
    }

    /**
     * Adds the handlers of one end, before all others. {@link #isSecured} tells their last event.
     *
     * @param dialled the address of the other end if this end dials; else null
     */
    void secure(ChannelPipeline pipeline, @Nullable InetSocketAddress dialled) {
        if (tls != null) {
            pipeline.addLast(tls.handler(dialled));
        }
        if (secret != null) {
            pipeline.addLast(new SealedChannel(secret, dialled != null, tls != null));
        }
    }

    /** Whether an event of the pipeline tells that the other end is authenticated. */
    static boolean isSecured(Object event) {
        return event == SealedChannel.SECURED
                || event instanceof SslHandshakeCompletionEvent handshake && handshake.isSuccess();
    }
}
