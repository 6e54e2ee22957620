/** Requirements of the judges. */
final class Expect {
  private Expect() {}

  static void require(boolean condition, String what) {
    if (!condition) {
      throw new AssertionError(what);
    }
  }

  /** Returns the message with which a call refuses its arguments, or "accepted". */
  static String refusal(Runnable call) {
    try {
      call.run();
    } catch (IllegalArgumentException reason) {
      return reason.getMessage();
    }
    return "accepted";
  }

  static void refused(String message, Runnable call) {
    String said = refusal(call);
    require(said.equals(message), said + ", expected " + message);
  }
}
