// SPDX-License-Identifier: Apache-2.0
package io.smqtt.migrate;

import io.netty.util.NetUtil;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;

/** The listeners of mosquitto, with their TLS and limits, as listeners of ours. */
final class MosquittoListeners {

    private final Draft draft;
    private final boolean localOnly;

    /**
     * Creates it without listeners.
     *
     * @param draft what is written
     * @param localOnly whether the file names no address or port, so that mosquitto listens on loopback only
     */
    MosquittoListeners(Draft draft, boolean localOnly) {
        this.draft = draft;
        this.localOnly = localOnly;
    }

    /** Writes the listeners, each under a name of its own, and turns off those of ours that the file does not have. */
    void bind(List<OldListener> listeners) {
        Set<String> names = new HashSet<>();
        for (OldListener listener : listeners) {
            String type = listener.webSocket ? "ws" : "tcp";
            String name = names.contains(type) ? type + "-" + listener.port : type;
            for (int i = 2; !names.add(name); i++) {
                name = type + "-" + listener.port + "-" + i;
            }
            one(listener, type, name);
        }
        for (String name : List.of("tcp", "ws")) {
            if (!names.contains(name)) {
                draft.byDefault("listeners." + name + ".enabled", "false", "not in the file");
            }
        }
    }

    private void one(OldListener listener, String type, String name) {
        String prefix = "listeners." + name + ".";
        if (listener.has("protocol")
                || listener.has("psk_hint")
                || (listener.has("psk_file") && !listener.has("certfile"))) {
            draft.set(prefix + "enabled", "false", listener.origin);
            return;
        }
        if (!name.equals(type)) {
            draft.set(prefix + "type", type, listener.origin);
        }
        draft.set(prefix + "port", String.valueOf(listener.port), listener.origin);
        OldSetting bind = listener.get("bind_address");
        String host = bind == null ? listener.host : bind.value();
        OldSetting device = listener.get("bind_interface");
        if (device != null && !localOnly && !isOneAddress(host)) {
            draft.problem(
                    device,
                    "is not migrated, and the listener would use every interface: write the address of the interface "
                            + "after the port of listener");
        }
        if (localOnly) {
            draft.byDefault(prefix + "host", "127.0.0.1", "mosquitto's default: without a listener, loopback only");
        } else if (!host.isEmpty()) {
            draft.set(prefix + "host", host, bind == null ? listener.origin : bind);
        }
        limits(listener, prefix);
        tls(listener, prefix);
    }

    /** Whether it is a specific address: not a name, which may resolve to any address, and not the wildcard address. */
    private static boolean isOneAddress(String host) {
        byte[] address = NetUtil.createByteArrayFromIpAddressString(host);
        if (address == null) {
            return false;
        }
        boolean any = true;
        for (byte part : address) {
            any &= part == 0;
        }
        return !any;
    }

    private void limits(OldListener listener, String prefix) {
        OldSetting most = listener.get("max_connections");
        if (most != null && draft.number(most) > 0) {
            draft.set(prefix + "max-connections", most.value(), most);
        }
        OldSetting origin = listener.get("websockets_origin");
        if (origin != null) {
            draft.set(prefix + "allowed-origins", origin.value(), origin);
        }
        if (listener.webSocket) {
            draft.byDefault(prefix + "path", "/mqtt", "mosquitto accepts every path");
            draft.note(listener.origin, Outcome.DIFFERENT, prefix + "path: clients must ask for /mqtt");
        }
        OldSetting proxy = listener.get("enable_proxy_protocol");
        if (proxy != null) {
            draft.set(prefix + "proxy-protocol", "true", proxy);
            draft.set(prefix + "trusted-proxies", "127.0.0.0/8", proxy);
        }
    }

    private void tls(OldListener listener, String prefix) {
        OldSetting certificate = listener.get("certfile");
        OldSetting key = listener.get("keyfile");
        if (certificate == null || key == null) {
            OldSetting half = certificate == null ? key : certificate;
            if (half != null) {
                draft.problem(half, "needs both certfile and keyfile");
            }
            return;
        }
        draft.set(prefix + "tls.certificate", draft.path(certificate), certificate);
        draft.set(prefix + "tls.key", draft.path(key), key);
        OldSetting authority = listener.get("cafile");
        OldSetting required = listener.get("require_certificate");
        if (authority != null) {
            draft.set(prefix + "tls.client-ca", draft.path(authority), authority);
        }
        if (required != null && draft.bool(required)) {
            if (authority == null) {
                draft.problem(required, "needs cafile; convert capath to one file first");
                return;
            }
            draft.set(prefix + "tls.client-auth", "required", required);
            userName(listener, prefix);
        }
    }

    private void userName(OldListener listener, String prefix) {
        for (Map.Entry<String, String> part : Map.of("use_identity_as_username", "cn", "use_subject_as_username", "dn")
                .entrySet()) {
            OldSetting use = listener.get(part.getKey());
            if (use != null && draft.bool(use)) {
                draft.set(prefix + "tls.user-name", part.getValue(), use);
            }
        }
    }
}
