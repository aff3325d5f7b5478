/**
 * The conformance register: reads the normative statements of MQTT 3.1.1 and 5.0 from {@code docs/conformance}, finds the
 * tests that name them in the sources of all modules, and keeps {@code docs/conformance.md} true.
 */
@NullMarked
package io.smqtt.it.conformance;

import org.jspecify.annotations.NullMarked;
